// The layout of --help: examples first, then usage, arguments and options.
#pragma once

#include <string>
#include <string_view>

#include "cli/options.h"

namespace trainscope {

std::string program_help();
std::string command_help(const CommandOptions& command);

// Lines of commands that most people need first.
std::string_view program_examples();

// The text after "Usage: " for a subcommand: "trainscope run [OPTIONS] -- COMMAND…".
std::string usage_line(const CommandOptions& command);

}  // namespace trainscope
