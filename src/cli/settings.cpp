#include "cli/settings.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <toml++/toml.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "base/fd.h"
#include "base/text.h"
#include "cli/suggest.h"

namespace trainscope {

namespace {

constexpr size_t kMaxFileBytes = size_t{1} << 20;
constexpr std::string_view kFileName = "trainscope.toml";

constexpr std::array<SettingSpec, 9> kSpecs = {{
    {"home", "", "folder that holds the runs (default: $XDG_DATA_HOME/trainscope)", "a folder"},
    {"every", "100ms", "sampling period, 1ms to 1h"},
    {"for", "", "stop after this time: for run, SIGTERM to the job, then SIGKILL after --grace"},
    {"grace", "10s", "time between SIGTERM and SIGKILL"},
    {"after", "", "command for /bin/sh, run once the job has ended", "a command"},
    {"name", "", "name of the run; need not be unique"},
    {"note", "", "a sentence about the run, shown by `info`"},
    {"counter", "", "numbers from files, SPECs of the form NAME:TYPE@PATH+c=COLUMN;r=ROW", "files"},
    {"quiet", "false", "print no status and no summary; errors are still printed"},
}};

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    if (c == '-') c = '_';
  }
  return out;
}

std::string variable_name(std::string_view setting) { return "TRAINSCOPE_" + upper(setting); }

std::string absolute(const std::string& path, const std::string& base) {
  if (path.empty() || path.front() == '/' || base.empty()) return path;
  return base + "/" + path;
}

// The home folder without the name service, which a static program does not have.
std::string user_folder(const SettingSources& sources) {
  if (auto home = sources.environment("HOME"); home && home->starts_with('/')) return *home;
  const auto passwd = read_file("/etc/passwd");
  if (!passwd) return "";
  const std::string uid = std::to_string(::getuid());
  for (const std::string_view line : split(*passwd, '\n')) {
    const auto parts = split(line, ':');
    if (parts.size() >= 6 && parts[2] == uid) return std::string(parts[5]);
  }
  return "";
}

// An XDG folder; the specification says that a relative one is to be ignored.
std::string xdg_folder(const SettingSources& sources, const char* variable,
                       const char* below_home) {
  if (auto value = sources.environment(variable); value && value->starts_with('/')) return *value;
  const std::string home = user_folder(sources);
  return home.empty() ? "" : home + below_home;
}

std::optional<std::string> environment_value(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

std::string current_folder() {
  std::string path(4096, '\0');
  if (::getcwd(path.data(), path.size()) == nullptr) return "";
  return path.c_str();
}

std::vector<std::string_view> setting_names() {
  std::vector<std::string_view> names;
  for (const SettingSpec& spec : kSpecs) names.push_back(spec.name);
  return names;
}

const SettingSpec* find_spec(std::string_view name) {
  for (const SettingSpec& spec : kSpecs) {
    if (spec.name == name) return &spec;
  }
  return nullptr;
}

Result<std::string> scalar_text(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* number = node.as_integer()) return std::to_string(number->get());
  if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
  if (const auto* flag = node.as_boolean()) return std::string(flag->get() ? "true" : "false");
  return Error("expected a string, a number, true or false");
}

// The text of a settings file, or nothing when there is none. What is there may be a stranger's: a
// FIFO must not make us wait.
Result<std::optional<std::string>> settings_text(const std::string& path) {
  auto fd = open_file(path, O_RDONLY | O_NONBLOCK);
  if (!fd) {
    const int error = fd.error().error_number();
    struct stat there {};
    // In a folder that is closed to us, as another user's HOME is, there are none for us.
    const bool closed = error == EACCES && ::stat(path.c_str(), &there) != 0;
    if (error == ENOENT || error == ENOTDIR || closed) return std::optional<std::string>();
    return fd.error();
  }
  struct stat info {};
  if (::fstat(fd->get(), &info) != 0) return Error::from_errno("cannot read " + path, errno);
  if (!S_ISREG(info.st_mode)) return Error(path + " is not a regular file");
  TS_TRY(std::string text, read_file(path, kMaxFileBytes));
  return std::optional<std::string>(std::move(text));
}

Result<toml::table> parse_toml(const std::string& path, const std::string& text) {
  try {
    return toml::parse(text, path);
  } catch (const toml::parse_error& error) {
    return Error(
        fmt::format("{}:{}: {}", path, error.source().begin.line, printable(error.description())));
  } catch (const std::exception& error) {
    return Error(fmt::format("{}: {}", path, printable(error.what())));
  }
}

bool same_file(const std::string& a, const std::string& b) {
  struct stat first {
  }, second{};
  return ::stat(a.c_str(), &first) == 0 && ::stat(b.c_str(), &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

// "~/runs" in a file, where no shell puts the home folder in; a relative path is the file's
// neighbour.
std::string path_in_file(const std::string& value, const std::string& file) {
  const char* home = std::getenv("HOME");
  if (value.starts_with("~/") && home != nullptr) return home + value.substr(1);
  return absolute(value, file.substr(0, file.rfind('/')));
}

}  // namespace

std::span<const SettingSpec> setting_specs() { return kSpecs; }

std::string setting_origin(const Setting& setting) {
  if (setting.from == "environment") return variable_name(setting.name);
  if (setting.from.starts_with("file ")) return setting.name + " in " + setting.from.substr(5);
  return "--" + setting.name;
}

Settings::Settings() {
  for (const SettingSpec& spec : kSpecs) {
    values_[std::string(spec.name)] = {std::string(spec.name), std::string(spec.default_value),
                                       "default"};
  }
}

Result<Settings> Settings::load() {
  SettingSources sources;
  sources.environment = environment_value;
  sources.working_directory = current_folder();
  if (!sources.working_directory.empty()) {
    sources.working_file = fmt::format("{}/{}", sources.working_directory, kFileName);
  }
  const std::string folder = xdg_folder(sources, "XDG_CONFIG_HOME", "/.config");
  if (!folder.empty()) sources.user_file = fmt::format("{}/trainscope/{}", folder, kFileName);
  return load_from(sources);
}

Result<Settings> Settings::load_from(const SettingSources& sources) {
  Settings settings;
  const std::string data = xdg_folder(sources, "XDG_DATA_HOME", "/.local/share");
  if (!data.empty()) settings.values_["home"].value = data + "/trainscope";
  if (!sources.user_file.empty()) {
    TS_CHECK_OK(settings.read_file_over(sources.user_file, true));
  }
  if (!sources.working_file.empty() && !same_file(sources.user_file, sources.working_file)) {
    TS_CHECK_OK(settings.read_file_over(sources.working_file, false));
  }
  for (const SettingSpec& spec : kSpecs) {
    const auto value = sources.environment(variable_name(spec.name));
    if (!value || value->empty()) continue;  // set to nothing is how a shell line switches one off
    Setting& setting = settings.values_[std::string(spec.name)];
    setting.value = spec.name == "home" ? absolute(*value, sources.working_directory) : *value;
    setting.from = "environment";
  }
  if (settings.home().empty()) {
    return Error(
        "no folder for the runs: neither TRAINSCOPE_HOME nor HOME is set; set TRAINSCOPE_HOME");
  }
  return settings;
}

Status Settings::read_file_over(const std::string& path, bool is_users_own) {
  TS_TRY(const auto text, settings_text(path));
  if (!text) return {};
  TS_TRY(const toml::table table, parse_toml(path, *text));
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    const auto at = fmt::format("{}:{}", path, key.source().begin.line);
    const SettingSpec* spec = find_spec(name);
    if (spec == nullptr) {
      return Error(fmt::format("{}: unknown setting '{}'{}", at, printable(name),
                               did_you_mean(name, setting_names())));
    }
    if (!spec->names.empty() && !is_users_own) {
      return Error(fmt::format(
          "{}: '{}' names {}, so a {} in the working directory cannot set it; use --{}, {} or "
          "your user configuration file",
          at, name, spec->names, kFileName, name, variable_name(name)));
    }
    auto value = scalar_text(node);
    if (!value) return value.error().with_context(fmt::format("{}: {}", at, name));
    values_[name] = {name, name == "home" ? path_in_file(*value, path) : *value, "file " + path};
  }
  return {};
}

const Setting& Settings::get(std::string_view name) const {
  const auto found = values_.find(name);
  CHECK(found != values_.end());
  return found->second;
}

void Settings::set_from_flag(std::string_view name, const std::string& value) {
  const auto found = values_.find(name);
  CHECK(found != values_.end());
  found->second.value = name == "home" ? absolute(value, current_folder()) : value;
  found->second.from = "flag";
}

std::vector<Setting> Settings::all() const {
  std::vector<Setting> settings;
  for (const SettingSpec& spec : kSpecs) settings.push_back(get(spec.name));
  return settings;
}

std::string Settings::home() const { return get("home").value; }

}  // namespace trainscope
