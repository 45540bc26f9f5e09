// Which Python a command would start, and which packages it has, without starting it.
//
// Guarantees: reads names of folders and a few small files; follows at most 16 links. Limits: if a
// launcher chooses the interpreter itself (a shell script), the active environment (VIRTUAL_ENV,
// CONDA_PREFIX) is used.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "record/host/variables.h"

namespace trainscope {

struct Python {
  std::string executable;              // as found, links not followed; without root
  std::string prefix;                  // of the environment
  std::optional<std::string> version;  // "3.11.2", or "3.11" when no more is known
  std::vector<std::string> folders;    // folders of packages, in the order of import
};

std::optional<Python> find_python(const std::string& root, const std::string& working_directory,
                                  const std::vector<std::string>& command,
                                  const Variables& variables = Variables::ours());

// Versions by normalised name ("nvidia-cuda-runtime-cu12": "12.1.105"), of *.dist-info and
// *.egg-info.
std::map<std::string, std::string> installed_packages(const std::string& root,
                                                      const Python& python);

}  // namespace trainscope
