// The layout of --help: examples first, then usage, arguments and options.
#pragma once

#include <string>
#include <string_view>

#include "cli/options.h"

namespace trainscope {

// Of the options that every command, and the program, has.
inline constexpr std::string_view kHelpHelp = "print this help", kVersionHelp = "print the version";

std::string program_help();
std::string command_help(const CommandOptions& command);

// Lines of commands that most people need first.
std::string_view program_examples();

// The text after "Usage: " for a subcommand: "trainscope run [OPTIONS] -- COMMAND…".
std::string usage_line(const CommandOptions& command);

}  // namespace trainscope
