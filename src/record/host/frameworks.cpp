#include "record/host/frameworks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "base/fd.h"

namespace trainscope {

namespace {

struct FrameworkLibrary {
  std::string_view file, framework;
};
// Of PyTorch, the part that only Python loads: advice for it does not fit a C++ program.
constexpr std::array<FrameworkLibrary, 4> kLibraries = {
    {{"/libtorch_python.so", "torch"},
     {"/libtensorflow_framework.so", "tensorflow"},
     {"/libtensorflow_cc.so", "tensorflow"},
     {"/jaxlib/", "jax"}}};

}  // namespace

std::string loaded_frameworks(const std::string& root, const std::vector<pid_t>& processes) {
  std::set<std::string_view> found;
  for (size_t i = 0; i < std::min(processes.size(), kMostProcesses); ++i) {
    const auto maps = read_file(fmt::format("{}/proc/{}/maps", root, processes[i]));
    if (!maps) continue;
    for (const FrameworkLibrary& library : kLibraries) {
      if (maps->find(library.file) != maps->npos) found.insert(library.framework);
    }
  }
  return fmt::format("{}", fmt::join(found, ", "));
}

}  // namespace trainscope
