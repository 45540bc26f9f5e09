#include "cli/recording.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdio>

#include "base/clock.h"
#include "base/text.h"
#include "cli/summary.h"
#include "store/store.h"

namespace trainscope {

namespace {

constexpr int64_t kMinEveryNs = 1'000'000;
constexpr int64_t kMaxEveryNs = 3600 * kNsPerSecond;
constexpr size_t kMaxTextBytes = 4096;

struct ValueName {
  std::string_view setting, name;
};
constexpr std::array<ValueName, 5> kValueNames = {{{"every", "DURATION"},
                                                   {"for", "DURATION"},
                                                   {"grace", "DURATION"},
                                                   {"home", "DIR"},
                                                   {"after", "COMMAND"}}};

std::string_view type_of(std::string_view setting) {
  for (const ValueName& value : kValueNames) {
    if (value.setting == setting) return value.name;
  }
  return "TEXT";
}

Result<int64_t> duration_setting(const Settings& settings, std::string_view name) {
  const Setting& setting = settings.get(name);
  return parse_duration(setting.value).with_context(setting_origin(setting));
}

Result<bool> switch_setting(const Settings& settings, std::string_view name) {
  const Setting& setting = settings.get(name);
  const std::string value = lower(setting.value);
  for (const std::string_view yes : {"true", "1", "yes", "on"}) {
    if (value == yes) return true;
  }
  for (const std::string_view no : {"false", "0", "no", "off", ""}) {
    if (value == no) return false;
  }
  return Error(fmt::format("{}: '{}' is neither true nor false", setting_origin(setting),
                           printable(setting.value)));
}

Result<std::string> text_setting(const Settings& settings, std::string_view name) {
  const Setting& setting = settings.get(name);
  if (setting.value.size() > kMaxTextBytes) {
    return Error(fmt::format("{} is {} bytes long; at most {} are accepted",
                             setting_origin(setting), setting.value.size(), kMaxTextBytes));
  }
  return setting.value;
}

Status read_durations(const Settings& settings, RecordOptions& options) {
  TS_TRY(options.every_ns, duration_setting(settings, "every"));
  if (options.every_ns < kMinEveryNs || options.every_ns > kMaxEveryNs) {
    const Setting& every = settings.get("every");
    return Error(fmt::format("{}: '{}' is out of range: 1ms to 1h is accepted",
                             setting_origin(every), printable(every.value)));
  }
  if (!settings.get("for").value.empty()) {
    TS_TRY(options.for_ns, duration_setting(settings, "for"));
  }
  // No grace at all is a choice, though no duration is 0 elsewhere.
  const Setting& grace = settings.get("grace");
  TS_TRY(options.grace_ns, parse_duration_or_zero(grace.value).with_context(setting_origin(grace)));
  return {};
}

Result<std::map<std::string, std::string>> parse_tags(const std::vector<std::string>& words) {
  std::map<std::string, std::string> tags;
  for (const std::string& word : words) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Error(fmt::format("--tag: '{}' is not of the form key=value", printable(word)));
    }
    tags[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return tags;
}

}  // namespace

void add_recording_flags(CLI::App& app, const std::shared_ptr<RecordingFlags>& flags,
                         std::initializer_list<std::string_view> names) {
  for (const SettingSpec& spec : setting_specs()) {
    if (std::find(names.begin(), names.end(), spec.name) == names.end()) continue;
    const std::string flag = fmt::format("--{}", spec.name);
    std::string help(spec.help);
    if (!spec.default_value.empty() && spec.name != "quiet") {
      help += fmt::format(" (default {})", spec.default_value);
    }
    const auto set = [flags, name = spec.name](const std::string& value) {
      flags->settings.set_from_flag(name, value);
    };
    if (spec.name == "quiet") {
      app.add_flag_callback(
          flag, [set] { set("true"); }, help);
    } else {
      app.add_option_function<std::string>(flag, set, help)
          ->type_name(std::string(type_of(spec.name)))
          ->take_last();
    }
  }
  app.add_option("--tag", flags->tags, "key=value kept with the run; may be given again")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  app.add_option("--id-file", flags->id_file, "write the run's id into this file")
      ->type_name("FILE");
}

Result<RecordOptions> recording_options(const RecordingFlags& flags) {
  RecordOptions options;
  const Settings& settings = flags.settings;
  TS_CHECK_OK(read_durations(settings, options));
  TS_TRY(options.quiet, switch_setting(settings, "quiet"));
  TS_TRY(options.name, text_setting(settings, "name"));
  TS_TRY(options.note, text_setting(settings, "note"));
  TS_TRY(options.after, text_setting(settings, "after"));
  TS_TRY(options.tags, parse_tags(flags.tags));
  options.home = settings.home();
  options.id_file = flags.id_file;
  options.settings = settings.all();
  return options;
}

void print_run_summary(const std::string& run_path) {
  auto run = open_run(run_path);
  if (!run) {
    fmt::print(stderr, "trainscope: the run cannot be read back: {}\n", run.error().message());
    return;
  }
  fmt::print(stderr, "{}", summary_text(**run, colour_wanted(STDERR_FILENO)));
}

}  // namespace trainscope
