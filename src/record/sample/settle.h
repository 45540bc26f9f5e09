// The end of a run on the disk, without anybody waiting for the disk.
#pragma once

#include <string>

namespace trainscope {

// settle_run in a separate process, which may outlive us: a sync usually takes milliseconds, but
// minutes on a disk that is busy or hangs. It keeps no descriptor of the caller open, so a pipe
// that the caller's reader waits on ends with the caller. If no process can be started, nothing is
// synced.
void settle_in_background(const std::string& run_path, bool is_sealed);

}  // namespace trainscope
