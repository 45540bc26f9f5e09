// The table of settings. One row gives a flag, an environment variable, a key of trainscope.toml,
// help, completion, a line of the reference and the member of RunOptions that the value fills.
//
// Guarantees: a setting is described here and nowhere else. Limits: cli/settings.h decides which
// source takes precedence, cli/recording.h reads the values into their members.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "cli/options.h"
#include "record/record.h"

namespace trainscope {

// What the settings fill. The recorder needs the RecordOptions alone.
struct RunOptions : RecordOptions {
  int64_t repeat = 1;  // runs of the same job, one after the other
};

inline constexpr int64_t kShortestPeriodNs = 1'000'000;
inline constexpr int64_t kLongestPeriodNs = 3'600'000'000'000;
inline constexpr std::string_view kPeriodRange = "1ms to 1h";

// The member that a value fills. The type decides how the text is read.
struct TextField {
  std::string RunOptions::*member = nullptr;
  Status (*check)(const std::string& text) = nullptr;  // not called for an empty text
};
struct DurationField {
  int64_t RunOptions::*member_ns = nullptr;
  int64_t min_ns = 1;  // 0: no time at all is accepted
  int64_t max_ns = std::numeric_limits<int64_t>::max();
  std::string_view range = "";  // the limits as messages write them
  bool needs_unit = false;      // a bare number is refused
};
struct IntegerField {
  int64_t RunOptions::*member = nullptr;
  int64_t min = 0;
  int64_t max = std::numeric_limits<int64_t>::max();
};
struct SwitchField {
  bool RunOptions::*member = nullptr;
};
struct ListField {
  std::vector<std::string> RunOptions::*member = nullptr;
  Status (*check)(const std::vector<std::string>& values) = nullptr;
  // The grammar of a value has commas, so the text of the environment variable is one value.
  bool has_commas = false;
};
struct PairsField {  // KEY=VALUE
  std::map<std::string, std::string> RunOptions::*member = nullptr;
};
using SettingField =
    std::variant<TextField, DurationField, IntegerField, SwitchField, ListField, PairsField>;

// How a path is understood. In a file, `~/` is the user's folder for both kinds of paths.
enum class PathBase {
  not_a_path,
  here,  // made absolute: below the working directory, or next to the file that names it
  job,   // stored as given: below the working directory of the job
};

struct SettingSpec {
  std::string_view name;   // "every": --every, TRAINSCOPE_EVERY, `every = "100ms"` in a file
  std::string_view value;  // in help: DURATION; "" for a switch. DIR, FILE and PATH are completed
  std::string_view help;
  SettingField field;
  std::string_view default_value = "";
  std::string_view commands = "";  // that have the flag: "run, attach"; "": all that need it
  // "a command", "a folder": what the value leads to outside of the run. A trainscope.toml in the
  // working directory may be another user's and cannot set it.
  std::string_view names = "";
  PathBase path = PathBase::not_a_path;
  std::string (*redact)(std::string_view value) = nullptr;  // hides secrets in the run's record

  bool is_switch() const { return std::holds_alternative<SwitchField>(field); }
  bool is_repeatable() const;
  // Its values in the environment are separated by commas; `\,` is a comma in a value.
  bool is_comma_separated() const;
  bool is_for(std::string_view command) const;
};

std::span<const SettingSpec> setting_specs();
// nullptr if there is none of that name.
const SettingSpec* find_setting(std::string_view name);
// "TRAINSCOPE_STEPS_FROM" for "steps-from".
std::string setting_variable(std::string_view name);

// The flag of a setting; `set` is called with each value, for a switch with "".
Option setting_option(const SettingSpec& spec, std::function<void(const std::string&)> set);

}  // namespace trainscope
