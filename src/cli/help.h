// The layout of --help: examples first, then usage, arguments and options.
//
// The headings are those that help2man turns into sections.
#pragma once

#include <string>

#include "cli/options.h"

namespace trainscope {

std::string program_help();
std::string command_help(const CommandOptions& command);

// The text after "Usage: " for a subcommand: "trainscope run [OPTIONS] -- COMMAND…".
std::string usage_line(const CommandOptions& command);

}  // namespace trainscope
