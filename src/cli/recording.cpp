#include "cli/recording.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>

#include "base/bounded_child.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/text.h"
#include "cli/summary.h"
#include "collect/support/counter_spec.h"
#include "record/closing.h"
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
  const Setting& every = settings.get("every");
  TS_CHECK_OK(check_period(options.every_ns, setting_origin(every), every.value));
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

// What a script that was written for Score-P has set.
constexpr const char* kScorepCounters = "SCOREP_METRIC_FILEPARSER_PLUGIN";
constexpr const char* kScorepPeriod = "SCOREP_METRIC_FILEPARSER_PLUGIN_PERIOD";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

void remember(RecordOptions& options, std::string_view name, const std::string& value,
              const std::string& from) {
  for (Setting& setting : options.settings) {
    if (setting.name == name) setting = {setting.name, value, from};
  }
}

// A period in microseconds, for a run whose own was left to us.
Status read_scorep_period(const Settings& settings, RecordOptions& options) {
  const std::string text = variable(kScorepPeriod);
  if (text.empty() || settings.get("every").from != "default") return {};
  const auto us = parse_integer(trim(text));
  if (!us || *us < kMinEveryNs / 1000 || *us > kMaxEveryNs / 1000) {
    return Error(fmt::format("{}: '{}' is not a number of microseconds from 1000 to 3600000000",
                             kScorepPeriod, printable(text)));
  }
  options.every_ns = *us * 1000;
  remember(options, "every", fmt::format("{}us", *us), "environment");
  return {};
}

// The flags, else the setting, else Score-P's variable.
Status read_counters(const RecordingFlags& flags, RecordOptions& options) {
  const Setting& setting = flags.settings.get("counter");
  std::string origin = "--counter";
  options.counters = flags.counters;
  if (!options.counters.empty()) {
    remember(options, "counter", fmt::format("{}", fmt::join(flags.counters, ",")), "flag");
  } else if (!setting.value.empty()) {
    origin = setting_origin(setting);
    options.counters = {setting.value};
  } else if (const std::string scorep = variable(kScorepCounters); !scorep.empty()) {
    origin = kScorepCounters;
    options.counters = {scorep};
    remember(options, "counter", scorep, "environment");
    TS_CHECK_OK(read_scorep_period(flags.settings, options));
  }
  auto parsed = parse_counters(options.counters);
  if (!parsed) return parsed.error().with_context(origin);
  return {};
}

}  // namespace

Status check_period(int64_t every_ns, const std::string& origin, const std::string& given) {
  if (every_ns >= kMinEveryNs && every_ns <= kMaxEveryNs) return {};
  return Error(
      fmt::format("{}: '{}' is out of range: 1ms to 1h is accepted", origin, printable(given)));
}

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
  app.add_flag("--perf", flags->perf,
               "count instructions, cycles and cache misses of the job; slows its thread switches");
  app.add_option("--counter", flags->counters,
                 "a number from a file, NAME:TYPE@PATH+c=COLUMN;r=ROW; may be given again")
      ->type_name("SPEC")
      ->allow_extra_args(false);
  app.add_option("--data", flags->data,
                 "file or folder of the dataset, to see what part of it is in memory; may be given "
                 "again")
      ->type_name("PATH")
      ->allow_extra_args(false);
  app.add_option("--tensorboard", flags->tensorboard,
                 "folder with TensorBoard event files that the job writes; may be given again")
      ->type_name("DIR")
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
  options.data = flags.data;
  TS_CHECK_OK(read_counters(flags, options));
  options.perf = flags.perf;
  options.tensorboard = flags.tensorboard;
  options.steps_from = flags.steps_from;
  if (!options.steps_from.empty()) {
    TS_CHECK_OK(check_steps_pattern(options.steps_from).with_context("--steps-from"));
  }
  return options;
}

void print_run_summary(const RecordOutcome& outcome) {
  if (!outcome.is_closed) return;  // the reason has been printed
  const bool colour = colour_wanted(STDERR_FILENO);
  const ChildAnswer answer = ask_child(reading_limits(), [&] {
    const auto run = open_run(outcome.run_path);
    if (run) return summary_text(**run, colour);
    return fmt::format("trainscope: the run cannot be read back: {}\n", run.error().message());
  });
  // Not by a function that throws: stderr may be closed or full.
  (void)write_all(STDERR_FILENO,
                  answer.end == ChildEnd::done
                      ? answer.text
                      : fmt::format("trainscope: no summary: {}; try: trainscope info {}\n",
                                    answer.text, outcome.manifest.id));
}

void print_error(const Error& error) {
  (void)write_all(STDERR_FILENO, "trainscope: " + error.message() + "\n");
}

}  // namespace trainscope
