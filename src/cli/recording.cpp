#include "cli/recording.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "base/bounded_child.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/text.h"
#include "cli/print.h"
#include "cli/summary.h"
#include "collect/support/counter_spec.h"
#include "record/supervise/closing.h"
#include "store/run_name.h"
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

void add_recording_flags(Options& options, const std::shared_ptr<RecordingFlags>& flags,
                         std::initializer_list<std::string_view> names) {
  for (const SettingSpec& spec : setting_specs()) {
    if (std::find(names.begin(), names.end(), spec.name) == names.end()) continue;
    const bool is_switch = spec.name == "quiet";
    std::string help(spec.help);
    if (!spec.default_value.empty() && !is_switch) {
      help += fmt::format(" (default: {})", spec.default_value);
    }
    options.add({.name = fmt::format("--{}", spec.name),
                 .value = is_switch ? "" : std::string(type_of(spec.name)),
                 .help = help,
                 .set = [flags, is_switch, name = spec.name](const std::string& value) {
                   flags->settings.set_from_flag(name, is_switch ? "true" : value);
                 }});
  }
  const auto add_list = [&options](const char* name, const char* value, const char* help,
                                   std::vector<std::string>& target) {
    options.add(
        {.name = name, .value = value, .help = help, .repeats = true, .set = store_in(target)});
  };
  add_list("--tag", "KEY=VALUE", "store key=value with the run; repeatable", flags->tags);
  options.add({.name = "--perf",
               .value = "",
               .help = "count instructions, cycles and cache misses of the job; slows its thread "
                       "switches",
               .set = store_in(flags->perf)});
  add_list("--counter", "SPEC",
           "record a number from a file, NAME:TYPE@PATH+c=COLUMN;r=ROW; repeatable",
           flags->counters);
  add_list("--data", "PATH",
           "dataset file or folder; record how much of it is in the page cache; repeatable",
           flags->data);
  add_list("--tensorboard", "DIR",
           "folder of TensorBoard event files that the job writes; repeatable", flags->tensorboard);
  options.add({.name = "--id-file",
               .value = "FILE",
               .help = "write the run's id to FILE",
               .set = store_in(flags->id_file)});
}

Result<RecordOptions> recording_options(const RecordingFlags& flags) {
  RecordOptions options;
  const Settings& settings = flags.settings;
  TS_CHECK_OK(read_durations(settings, options));
  TS_TRY(options.quiet, switch_setting(settings, "quiet"));
  TS_TRY(options.name, text_setting(settings, "name"));
  TS_CHECK_OK(check_run_name(options.name).with_context(setting_origin(settings.get("name"))));
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
  if (answer.end == ChildEnd::done) {
    tell_text(answer.text);
  } else {
    tell("trainscope: no summary: {}; try: trainscope info {}\n", answer.text, outcome.manifest.id);
  }
}

}  // namespace trainscope
