#include "cli/settings.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <toml++/toml.h>
#include <unistd.h>

#include <cstdlib>

#include "base/fd.h"
#include "base/suggest.h"
#include "base/text.h"
#include "cli/setting_table.h"

namespace trainscope {

namespace {

constexpr size_t kMaxFileBytes = size_t{1} << 20;
constexpr std::string_view kFileName = "trainscope.toml";

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

// An XDG folder; the specification wants a relative one to be ignored.
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

std::vector<std::string_view> setting_names() {
  std::vector<std::string_view> names;
  for (const SettingSpec& spec : setting_specs()) names.push_back(spec.name);
  return names;
}

// Values between commas; `\,` is a comma in a value.
std::vector<std::string> split_values(std::string_view text) {
  std::vector<std::string> values(1);
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ',') {
      values.emplace_back();
      continue;
    }
    if (text.substr(i).starts_with("\\,")) ++i;
    values.back() += text[i];
  }
  std::erase(values, "");
  return values;
}

std::string join_values(const SettingSpec& spec, const std::vector<std::string>& values) {
  std::string text;
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) text += ',';
    for (const char c : values[i]) {
      if (c == ',' && spec.is_comma_separated()) text += '\\';
      text += c;
    }
  }
  return text;
}

std::optional<std::string> scalar_text(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* number = node.as_integer()) return std::to_string(number->get());
  if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
  if (const auto* flag = node.as_boolean()) return std::string(flag->get() ? "true" : "false");
  return std::nullopt;
}

// A repeatable setting is an array, or a string where there is only one value.
Result<std::vector<std::string>> values_of(const SettingSpec& spec, const toml::node& node) {
  std::vector<std::string> values;
  const toml::array* array = spec.is_repeatable() ? node.as_array() : nullptr;
  const size_t count = array == nullptr ? 1 : array->size();
  for (size_t i = 0; i < count; ++i) {
    const auto text = scalar_text(array == nullptr ? node : (*array)[i]);
    if (!text) {
      return Error(spec.is_repeatable() ? "expected a string or an array of strings"
                                        : "expected a string, a number, true or false");
    }
    if (!text->empty() || !spec.is_repeatable()) values.push_back(*text);
  }
  return values;
}

// The text of a settings file, or nothing if there is none. Another user may have put a FIFO there,
// which must not block.
Result<std::optional<std::string>> settings_text(const std::string& path) {
  auto text = read_regular_file(path, kMaxFileBytes);
  if (text) return std::optional<std::string>(std::move(*text));
  const int error = text.error().error_number();
  struct stat there {};
  // A folder that we may not search, such as another user's HOME, has none for us.
  const bool is_closed = error == EACCES && ::stat(path.c_str(), &there) != 0;
  if (error == ENOENT || error == ENOTDIR || is_closed) return std::optional<std::string>();
  return text.error();
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

// No shell has replaced "~/" in a file.
std::string path_in_file(PathBase base, const std::string& value, const std::string& file,
                         const std::string& home_folder) {
  if (base == PathBase::not_a_path) return value;
  if (value.starts_with("~/") && !home_folder.empty()) return home_folder + value.substr(1);
  return base == PathBase::here ? absolute_path(value, file.substr(0, file.rfind('/'))) : value;
}

Error unknown_setting(const std::string& at, const std::string& name) {
  return Error(fmt::format("{}: unknown setting '{}'{}", at, printable(name),
                           did_you_mean(name, setting_names())));
}

}  // namespace

std::string setting_origin(const Setting& setting) {
  if (setting.from == "environment") return setting_variable(setting.name);
  if (setting.from.starts_with("file ")) return setting.name + " in " + setting.from.substr(5);
  return "--" + setting.name;
}

Settings::Settings() {
  for (const SettingSpec& spec : setting_specs()) {
    const std::string value(spec.default_value);
    const bool is_empty = spec.is_repeatable() && value.empty();
    chosen_[std::string(spec.name)] = {
        {std::string(spec.name), value, "default"},
        is_empty ? std::vector<std::string>() : std::vector<std::string>{value}};
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
  if (!data.empty()) settings.replace("home", {data + "/trainscope"}, "default");
  if (!sources.user_file.empty()) {
    TS_CHECK_OK(settings.read_file_over(sources, sources.user_file, true));
  }
  if (!sources.working_file.empty() && !same_file(sources.user_file, sources.working_file)) {
    TS_CHECK_OK(settings.read_file_over(sources, sources.working_file, false));
  }
  for (const SettingSpec& spec : setting_specs()) {
    const auto value = sources.environment(setting_variable(spec.name));
    if (!value || value->empty()) continue;  // set to nothing is how a shell line switches one off
    std::vector<std::string> values = {*value};
    if (spec.is_comma_separated()) values = split_values(*value);
    if (spec.path == PathBase::here) values = {absolute_path(*value, sources.working_directory)};
    settings.replace(spec.name, std::move(values), "environment");
  }
  if (settings.home().empty()) {
    return Error(
        "no folder for the runs: neither TRAINSCOPE_HOME nor HOME is set; set TRAINSCOPE_HOME");
  }
  return settings;
}

Status Settings::read_file_over(const SettingSources& sources, const std::string& path,
                                bool is_users_own) {
  TS_TRY(const auto text, settings_text(path));
  if (!text) return {};
  TS_TRY(const toml::table table, parse_toml(path, *text));
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    const auto at = fmt::format("{}:{}", path, key.source().begin.line);
    const SettingSpec* spec = find_setting(name);
    if (spec == nullptr) return unknown_setting(at, name);
    if (!spec->names.empty() && !is_users_own) {
      return Error(fmt::format(
          "{}: '{}' names {}, so a {} in the working directory cannot set it; use --{}, {} or "
          "your user configuration file",
          at, name, spec->names, kFileName, name, setting_variable(name)));
    }
    auto values = values_of(*spec, node);
    if (!values) return values.error().with_context(fmt::format("{}: {}", at, name));
    for (std::string& value : *values) {
      value = path_in_file(spec->path, value, path, user_folder(sources));
    }
    replace(name, std::move(*values), "file " + path);
  }
  return {};
}

const Settings::Chosen& Settings::find(std::string_view name) const {
  const auto found = chosen_.find(name);
  CHECK(found != chosen_.end());
  return found->second;
}

const Setting& Settings::get(std::string_view name) const { return find(name).setting; }

const std::vector<std::string>& Settings::values(std::string_view name) const {
  return find(name).values;
}

void Settings::set_from_flag(std::string_view name, const std::string& value) {
  const SettingSpec* spec = find_setting(name);
  CHECK(spec != nullptr);
  std::vector<std::string> values;
  if (spec->is_repeatable() && get(name).from == "flag") values = this->values(name);
  values.push_back(spec->path == PathBase::here ? absolute_path(value, current_folder()) : value);
  replace(name, std::move(values), "flag");
}

void Settings::replace(std::string_view name, std::vector<std::string> values, std::string from) {
  const SettingSpec* spec = find_setting(name);
  CHECK(spec != nullptr);
  std::string text = join_values(*spec, values);
  chosen_[std::string(name)] = {{std::string(name), std::move(text), std::move(from)},
                                std::move(values)};
}

std::vector<Setting> Settings::all() const {
  std::vector<Setting> settings;
  for (const SettingSpec& spec : setting_specs()) {
    Chosen chosen = find(spec.name);
    if (spec.redact != nullptr) {
      for (std::string& value : chosen.values) value = spec.redact(value);
      chosen.setting.value = join_values(spec, chosen.values);
    }
    settings.push_back(std::move(chosen.setting));
  }
  return settings;
}

std::string Settings::home() const { return get("home").value; }

}  // namespace trainscope
