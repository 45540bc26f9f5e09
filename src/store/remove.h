// Removing a run: only what is a run's, and never through a link.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace trainscope {

struct Removed {
  int64_t bytes = 0;                 // of disk space, freed
  std::vector<std::string> foreign;  // names that are not ours and stay, with the folder
};

// The space that a run's own files take.
Result<int64_t> run_disk_bytes(const std::string& run_path);

// Unlinks the run's files and then its folder. The manifest goes last, so that an interrupted
// removal can be repeated. The caller has made sure that the run is not being recorded.
Result<Removed> remove_run(const std::string& run_path);

}  // namespace trainscope
