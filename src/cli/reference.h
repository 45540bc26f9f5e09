// The pages of docs/reference, written from the program's own tables so that they cannot be wrong.
//
// Guarantees: the same program writes the same bytes on every machine.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/options.h"

namespace trainscope {

// File names and contents.
std::map<std::string, std::string> reference_pages(const std::vector<CommandOptions>& commands);

}  // namespace trainscope
