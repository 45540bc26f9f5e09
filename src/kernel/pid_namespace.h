// Whether the pids of /proc are those that this process knows.
#pragma once

#include <string>

namespace trainscope {

// False where /proc was mounted in another PID namespace (unshare --pid without --mount-proc): what
// it shows of a pid is of another process.
bool shows_our_pids(const std::string& root);

}  // namespace trainscope
