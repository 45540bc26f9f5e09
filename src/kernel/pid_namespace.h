// Whether the pids of /proc are those that this process knows, and whether others mean the same.
#pragma once

#include <cstdint>
#include <string>

namespace trainscope {

// False where /proc was mounted in another PID namespace (unshare --pid without --mount-proc): what
// it shows of a pid is of another process.
bool shows_our_pids(const std::string& root);
// The PID namespace of this process, as a number that no other one of this kernel has; 0: unknown,
// or /proc is that of another one.
int64_t own_pid_namespace();

}  // namespace trainscope
