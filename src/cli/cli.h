// The command line: one file a subcommand in cli/commands/, each defining one constant
// `<stem>_command`.
//
// What takes a value says what kind by its type_name: RUN, FILE, DIR, PID, TEXT, DURATION …; help,
// the shells' completion (RUN: ids and names, FILE and DIR: files) and the reference are made from
// it. Only this module prints for people and chooses exit codes: 0 done, 1 the answer is no, 2
// usage error or bad input, 125 we failed before the job started.
#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/settings.h"

namespace trainscope {

struct Command {
  std::string_view name;
  std::string_view summary;   // one line, for `trainscope --help`
  std::string_view examples;  // lines shown first in its own --help
  bool hidden = false;
  // Adds its options to `app` and returns what runs it: the exit code, or an Error (printed, exit
  // 2).
  std::function<Result<int>()> (*add)(CLI::App& app, const Settings& settings) = nullptr;
};

// All subcommands, sorted by name. Generated from the folder.
std::span<const Command* const> commands();

// Of a subcommand that called app.prefix_command(): the job's words, exactly as given. They begin
// behind
// `--`, or with the first word that is no option.
std::vector<std::string> job_words(const CLI::App& app);

// The program with all subcommands but nothing parsed yet: what completion and reference walk over.
const CLI::App& root_of(const CLI::App& app);

// The whole program.
int run_command_line(int argc, char** argv);

}  // namespace trainscope
