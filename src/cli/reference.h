// The pages of docs/reference, written from the program's own tables so that they cannot be wrong.
//
// Guarantees: the same program writes the same bytes on every machine.
#pragma once

#include <CLI/CLI.hpp>

#include <map>
#include <string>

namespace trainscope {

// File names and contents.
std::map<std::string, std::string> reference_pages(const CLI::App& root);

}  // namespace trainscope
