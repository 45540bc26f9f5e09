// Settings by flag, environment, trainscope.toml and default, in this order, each with its source.
//
// Guarantees: an invalid file is an Error with its path and line, and none of it is used; a
// trainscope.toml in the working directory, which may be another user's, sets nothing that names a
// command, folder or file. Limits: values are texts; cli/recording.h reads and checks them.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/model.h"

namespace trainscope {

// Where settings are searched for; tests give their own.
struct SettingSources {
  std::function<std::optional<std::string>(const std::string&)> environment;  // by variable name
  std::string user_file;          // "" when the user has no configuration folder
  std::string working_file;       // the working directory's
  std::string working_directory;  // of a relative path by flag or environment
};

// The source of a value in messages: "--every", "TRAINSCOPE_EVERY" or "every in
// /x/trainscope.toml".
std::string setting_origin(const Setting& setting);

class Settings {
 public:
  Settings();  // the defaults alone
  // Reads the environment and the files: the user's configuration folder, then the working
  // directory.
  static Result<Settings> load();
  static Result<Settings> load_from(const SettingSources& sources);

  // The value that takes precedence, as text; a repeatable setting has commas between its values.
  const Setting& get(std::string_view name) const;
  // Its values one by one: exactly one, or any number for a repeatable setting.
  const std::vector<std::string>& values(std::string_view name) const;
  // Called for each flag that was given. The first flag replaces what other sources gave.
  void set_from_flag(std::string_view name, const std::string& value);
  void replace(std::string_view name, std::vector<std::string> values, std::string from);
  // All of them for the run's record, in the table's order, secrets redacted.
  std::vector<Setting> all() const;
  // TRAINSCOPE_HOME, or $XDG_DATA_HOME/trainscope, or ~/.local/share/trainscope.
  std::string home() const;

 private:
  struct Chosen {
    Setting setting;
    std::vector<std::string> values;
  };
  const Chosen& find(std::string_view name) const;
  Status read_file_over(const SettingSources& sources, const std::string& path, bool is_users_own);

  std::map<std::string, Chosen, std::less<>> chosen_;
};

}  // namespace trainscope
