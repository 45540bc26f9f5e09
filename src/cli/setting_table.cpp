#include "cli/setting_table.h"

#include <fmt/format.h>

#include "base/text.h"
#include "collect/collect.h"
#include "record/record.h"
#include "store/store.h"

namespace trainscope {

namespace {

constexpr std::string_view kEveryRecording = "run, attach, demo, probe";

Status check_name(const std::string& name) { return check_run_name(name); }

Status check_keep_patterns(const std::vector<std::string>& patterns) {
  for (const std::string& pattern : patterns) {
    if (pattern.find_first_not_of("/.") == std::string::npos) {
      return Error(fmt::format("'{}' names no file; try 'out/*.png'", printable(pattern)));
    }
  }
  return {};
}

std::string redact_tag(std::string_view tag) {
  const size_t equals = tag.find('=');
  if (equals == std::string_view::npos) return redact_text(tag);
  const auto redacted =
      redact_tags({{std::string(tag.substr(0, equals)), std::string(tag.substr(equals + 1))}});
  return redacted.begin()->first + "=" + redacted.begin()->second;
}

constexpr SettingSpec kSettings[] = {
    {.name = "home",
     .value = "DIR",
     .help = "folder that holds the runs (default: $XDG_DATA_HOME/trainscope)",
     .field = TextField{&RunOptions::home},
     .names = "a folder",
     .path = PathBase::here},
    {.name = "every",
     .value = "DURATION",
     .help = "sampling period, 1ms to 1h",
     .field = DurationField{&RunOptions::every_ns, kShortestPeriodNs, kLongestPeriodNs,
                            kPeriodRange, true},
     .default_value = "100ms",
     .commands = kEveryRecording},
    {.name = "for",
     .value = "DURATION",
     .help = "stop after this time: for run and probe, SIGTERM to the job, then SIGKILL after "
             "--grace (default of probe: 2m)",
     .field = DurationField{&RunOptions::for_ns},
     .commands = "run, attach, probe"},
    {.name = "grace",
     .value = "DURATION",
     .help = "time between SIGTERM and SIGKILL",
     .field = DurationField{&RunOptions::grace_ns, 0},
     .default_value = "10s",
     .commands = "run, probe"},
    {.name = "after",
     .value = "COMMAND",
     .help = "command for /bin/sh, run once the job has ended",
     .field = TextField{&RunOptions::after},
     .commands = "run",
     .names = "a command",
     .redact = redact_line},
    {.name = "name",
     .value = "TEXT",
     .help = "name of the run; need not be unique",
     .field = TextField{&RunOptions::name, check_name},
     .commands = kEveryRecording},
    {.name = "note",
     .value = "TEXT",
     .help = "sentence about the run, shown by `info`",
     .field = TextField{&RunOptions::note},
     .commands = "run, attach, probe",
     .redact = redact_text},
    {.name = "quiet",
     .value = "",
     .help = "print no status and no summary; errors are still printed",
     .field = SwitchField{&RunOptions::quiet},
     .default_value = "false",
     .commands = kEveryRecording},
    {.name = "tag",
     .value = "KEY=VALUE",
     .help = "store key=value with the run; repeatable",
     .field = PairsField{&RunOptions::tags},
     .commands = kEveryRecording,
     .redact = redact_tag},
    {.name = "perf",
     .value = "",
     .help = "count instructions, cycles and cache misses of the job; slows its thread switches",
     .field = SwitchField{&RunOptions::perf},
     .default_value = "false",
     .commands = kEveryRecording},
    {.name = "instrument",
     .value = "",
     .help = "report steps and phases of Python jobs (PyTorch, Lightning, Hugging Face, Keras) "
             "without changing them",
     .field = SwitchField{&RunOptions::instrument},
     .default_value = "false",
     .commands = "run"},
    {.name = "counter",
     .value = "SPEC",
     .help = "record a number from a file, NAME:TYPE@PATH+c=COLUMN;r=ROW; repeatable",
     .field = ListField{&RunOptions::counters, check_counters, true},
     .commands = kEveryRecording,
     .names = "files"},
    {.name = "data",
     .value = "PATH",
     .help = "dataset file or folder; record how much of it is in the page cache; repeatable",
     .field = ListField{&RunOptions::data},
     .commands = kEveryRecording,
     .names = "files",
     .path = PathBase::job},
    {.name = "tensorboard",
     .value = "DIR",
     .help = "folder of TensorBoard event files that the job writes; repeatable",
     .field = ListField{&RunOptions::tensorboard},
     .commands = kEveryRecording,
     .names = "a folder",
     .path = PathBase::job},
    {.name = "id-file",
     .value = "FILE",
     .help = "write the run's id to FILE",
     .field = TextField{&RunOptions::id_file},
     .commands = kEveryRecording,
     .names = "a file",
     .path = PathBase::job},
    {.name = "steps-from",
     .value = "REGEX",
     .help = "regular expression for a printed step: (?<step>\\d+), (?<epoch>\\d+), (?<loss>...), "
             "(?<accuracy>...), (?<throughput>...)",
     .field = TextField{&RunOptions::steps_from, check_steps_pattern},
     .commands = "run"},
    {.name = "keep",
     .value = "GLOB",
     .help = "copy files that the job made into the run, e.g. 'out/*.png'; up to 256 files and 64 "
             "MiB; repeatable",
     .field = ListField{&RunOptions::keep, check_keep_patterns},
     .commands = "run, attach",
     .names = "files",
     .path = PathBase::job},
    {.name = "repeat",
     .value = "N",
     .help = "run the job N times, as N separate runs",
     .field = IntegerField{&RunOptions::repeat, 1, 100'000},
     .default_value = "1",
     .commands = "run"},
};

}  // namespace

bool SettingSpec::is_repeatable() const {
  return std::holds_alternative<ListField>(field) || std::holds_alternative<PairsField>(field);
}

bool SettingSpec::is_comma_separated() const {
  const auto* list = std::get_if<ListField>(&field);
  return is_repeatable() && (list == nullptr || !list->has_commas);
}

bool SettingSpec::is_for(std::string_view command) const {
  if (commands.empty()) return true;
  for (const std::string_view one : split(commands, ',')) {
    if (trim(one) == command) return true;
  }
  return false;
}

std::span<const SettingSpec> setting_specs() { return kSettings; }

const SettingSpec* find_setting(std::string_view name) {
  for (const SettingSpec& spec : kSettings) {
    if (spec.name == name) return &spec;
  }
  return nullptr;
}

std::string setting_variable(std::string_view name) {
  std::string variable = "TRAINSCOPE_";
  for (const char c : name) {
    const bool is_small = c >= 'a' && c <= 'z';
    variable += c == '-' ? '_' : is_small ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return variable;
}

Option setting_option(const SettingSpec& spec, std::function<void(const std::string&)> set) {
  std::string help(spec.help);
  if (!spec.default_value.empty() && !spec.is_switch()) {
    help += fmt::format(" (default: {})", spec.default_value);
  }
  return {.name = fmt::format("--{}", spec.name),
          .value = std::string(spec.value),
          .help = std::move(help),
          .repeats = spec.is_repeatable(),
          .set = std::move(set)};
}

}  // namespace trainscope
