// The man pages: trainscope(1), and one for each subcommand with its options, written from the
// same tables as help, completion and docs/reference.
//
// Guarantees: the same program writes the same bytes on every machine.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/options.h"

namespace trainscope {

// File names ("trainscope-run.1") and contents.
std::map<std::string, std::string> man_pages(const std::vector<CommandOptions>& commands);

}  // namespace trainscope
