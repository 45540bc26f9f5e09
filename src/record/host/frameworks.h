// Which deep-learning frameworks a job has loaded: by the libraries that its processes map.
//
// Guarantees: reads /proc/PID/maps of at most kMostProcesses processes, the oldest first. A process
// that cannot be read shows nothing. Cost: milliseconds, so this is not for each tick.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <vector>

namespace trainscope {

inline constexpr size_t kMostProcesses = 16;
inline constexpr const char* kFrameworkEvent = "framework";

// "torch", "jax, tensorflow"; "" if none of them is known to be loaded.
std::string loaded_frameworks(const std::string& root, const std::vector<pid_t>& processes);

}  // namespace trainscope
