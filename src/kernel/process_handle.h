// A process that cannot be mistaken for a later one with the same pid.
//
// A process read from /proc may have ended, and its pid may be reused, before a signal is sent. A
// pidfd (Linux 5.3) always refers to one process; its start time confirms that it is the intended
// one. Without pidfds the start time is compared right before each use. Limits: start times are in
// hundredths of a second.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "base/fd.h"

namespace trainscope {

// Start time of a process in clock ticks since boot (with the boot id it distinguishes reused
// pids); -1 if it does not exist.
int64_t start_ticks(pid_t pid);

class ProcessHandle {
 public:
  ProcessHandle() = default;
  // `start`: when the process that is meant was started (start_ticks); -1: whichever has the pid.
  explicit ProcessHandle(pid_t pid, int64_t start = -1);

  // It has ended, reaped or not; also if it did not exist before.
  bool has_ended() const;
  // False when it has ended or may not be signalled.
  bool send(int signal_number) const;
  // Readable when it has ended; -1 without pidfds.
  int fd() const { return pidfd_.get(); }

 private:
  pid_t pid_ = 0;  // 0: it does not exist
  int64_t start_ = -1;
  UniqueFd pidfd_;
};

}  // namespace trainscope
