// Settings by flag, environment, trainscope.toml and default, in this order; each knows where it is from.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/model.h"

namespace trainscope {

// One row of the table that flags, environment, files, help and the reference are made from.
struct SettingSpec {
  std::string_view name;           // "every": --every, TRAINSCOPE_EVERY, `every = "100ms"` in the file
  std::string_view default_value;  // "" when there is none
  std::string_view help;
  bool names_command = false;  // may not come from a trainscope.toml in the working directory
};

std::span<const SettingSpec> setting_specs();

class Settings {
 public:
  // Reads the environment and the files: the user's configuration folder, then the working directory.
  static Result<Settings> load();

  // The value that holds without a flag.
  const Setting& get(std::string_view name) const;
  // Called by a command whose flag was given.
  void set_from_flag(std::string_view name, const std::string& value);
  // All of them, in the table's order, for the run's record.
  std::vector<Setting> all() const;
  // TRAINSCOPE_HOME, or $XDG_DATA_HOME/trainscope, or ~/.local/share/trainscope.
  std::string home() const;

 private:
  std::map<std::string, Setting, std::less<>> values_;
};

}  // namespace trainscope
