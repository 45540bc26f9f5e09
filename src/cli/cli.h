// The command line: one file per subcommand in cli/commands/, each defining one constant
// `<stem>_command`.
//
// Only this module prints for people and chooses exit codes: 0 done, 1 the answer is no, 2 usage
// error or bad input, 125 failed before the job started.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/options.h"
#include "cli/settings.h"

namespace trainscope {

// A name and its meaning.
struct HelpRow {
  std::string name, help;
};

struct Command {
  std::string_view name;
  std::string_view summary;   // one line, for `trainscope --help`
  std::string_view examples;  // lines shown first in its own --help
  bool hidden = false;
  // Rows of a section after the options, by their names; nullptr: none.
  std::vector<HelpRow> (*details)() = nullptr;
  std::string_view details_title = {};  // "Tables"
  // Adds its rows to `options`, which outlive the returned function. That function runs the command
  // and returns the exit code, or an Error (printed, exit code 2).
  std::function<Result<int>()> (*add)(Options& options, const Settings& settings) = nullptr;
};

// All subcommands, sorted by name. Generated from the folder.
std::span<const Command* const> commands();

// The whole program.
int run_command_line(int argc, char** argv);

}  // namespace trainscope
