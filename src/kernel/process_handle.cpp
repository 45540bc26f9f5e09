#include "kernel/process_handle.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel/process_tree.h"

namespace trainscope {

int64_t start_ticks(pid_t pid) {
  ProcessStat stat;
  return read_stat("", pid, stat) ? stat.start_ticks : -1;
}

ProcessHandle::ProcessHandle(pid_t pid, int64_t start) : pid_(pid) {
  // The descriptor first: later reads refer to the process that it names.
  pidfd_.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  ProcessStat stat;
  const Status read = read_stat("", pid, stat);
  if (!read && !trainscope::has_ended(read.error())) {
    start_ = start;  // it cannot be read now: no descriptor is free, for example
    return;
  }
  start_ = read ? stat.start_ticks : -1;
  const bool is_other = start >= 0 && start != start_;
  if (is_other || (!pidfd_ && start_ < 0)) {
    pid_ = 0;
    pidfd_.reset();
  }
}

bool ProcessHandle::has_ended() const {
  if (pid_ == 0) return true;
  if (pidfd_) {
    pollfd ended = {pidfd_.get(), POLLIN, 0};
    return ::poll(&ended, 1, 0) > 0;
  }
  ProcessStat stat;
  if (const Status read = read_stat("", pid_, stat); !read) {
    return trainscope::has_ended(read.error());
  }
  const bool is_other = start_ >= 0 && stat.start_ticks != start_;
  return is_other || stat.state == 'Z' || stat.state == 'X';
}

bool ProcessHandle::send(int signal_number) const {
  if (pid_ == 0) return false;
  if (pidfd_) {
    return ::syscall(SYS_pidfd_send_signal, pidfd_.get(), signal_number, nullptr, 0) == 0;
  }
  return start_ticks(pid_) == start_ && ::kill(pid_, signal_number) == 0;
}

}  // namespace trainscope
