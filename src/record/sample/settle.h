// The end of a run on the disk, without anybody waiting for the disk.
#pragma once

#include <string>

namespace trainscope {

// settle_run in a process of its own, which may outlive us: a sync takes milliseconds as a rule and
// minutes on a disk that is busy or hangs. It holds nothing of the caller's, so a pipe that the
// caller's reader waits on ends with the caller. Without a process to be had, nothing is synced.
void settle_in_background(const std::string& run_path, bool is_sealed);

}  // namespace trainscope
