// Settings by flag, environment, trainscope.toml and default, in this order; each knows where it is
// from.
//
// Guarantees: a file that cannot be understood is an Error with its path and line, never half
// obeyed; a trainscope.toml in the working directory, which may be a stranger's, names no command,
// folder or file. Limits: one text a setting; what it means is checked by the command that uses it.
#pragma once

#include <functional>
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
  std::string_view name;  // "every": --every, TRAINSCOPE_EVERY, `every = "100ms"` in the file
  std::string_view default_value;  // "" when there is none
  std::string_view help;
  // "a command", "a folder": what its value leads to outside of the run. Such a setting may not
  // come from a trainscope.toml in the working directory.
  std::string_view names = "";
};

std::span<const SettingSpec> setting_specs();

// Where settings are looked for; tests give their own.
struct SettingSources {
  std::function<std::optional<std::string>(const std::string&)> environment;  // by variable name
  std::string user_file;          // "" when the user has no configuration folder
  std::string working_file;       // the working directory's
  std::string working_directory;  // what a relative path by flag or environment means
};

// What a person calls it in a message: "--every", "TRAINSCOPE_EVERY" or "every in
// /x/trainscope.toml".
std::string setting_origin(const Setting& setting);

class Settings {
 public:
  Settings();  // the defaults alone
  // Reads the environment and the files: the user's configuration folder, then the working
  // directory.
  static Result<Settings> load();
  static Result<Settings> load_from(const SettingSources& sources);

  // The value that holds without a flag.
  const Setting& get(std::string_view name) const;
  // Called by a command whose flag was given.
  void set_from_flag(std::string_view name, const std::string& value);
  // All of them, in the table's order, for the run's record.
  std::vector<Setting> all() const;
  // TRAINSCOPE_HOME, or $XDG_DATA_HOME/trainscope, or ~/.local/share/trainscope.
  std::string home() const;

 private:
  Status read_file_over(const std::string& path, bool is_users_own);

  std::map<std::string, Setting, std::less<>> values_;
};

}  // namespace trainscope
