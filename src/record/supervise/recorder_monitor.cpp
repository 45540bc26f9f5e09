#include "record/supervise/recorder_monitor.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/bounded_child.h"
#include "base/clock.h"
#include "base/interrupted.h"
#include "record/supervise/launch.h"
#include "record/supervise/signal_inbox.h"

namespace trainscope {

namespace {

constexpr int64_t kFirstBackoff = 100 * kNsPerMs, kLastBackoff = 10'000 * kNsPerMs;
constexpr int64_t kLongLife = 60'000 * kNsPerMs;
// A recorder that is busy for longer is too slow.
constexpr int64_t kCloseLimit = 4'000 * kNsPerMs;
constexpr int64_t kExitLimit = 500 * kNsPerMs;
// So long after the job's end, a recorder that waits for its disk hangs sooner: its own limits pass
// one after the other, and the caller of the job shall not wait for more than two seconds.
constexpr int64_t kPatienceAfterJob = 1'400 * kNsPerMs, kPatienceAfterDrain = 1'000 * kNsPerMs;
constexpr int64_t kLateHangNs = 600 * kNsPerMs;

}  // namespace

Status RecorderMonitor::start() {
  ++recorder_.memory->incarnation;
  pid_t pid = 0;
  {
    // A signal to the group before the recorder takes its own would be ours twice.
    const SignalInbox::Hold hold;
    pid = ::fork();
    if (pid == 0) {
      ::close(recorder_.lifeline_write_fd);
      // An exception, of a thread that cannot start, must not reach the supervisor's stack, which
      // is here too: with --repeat this process would run the job again.
      try {
        recorder_.run(restart_reason_);
      } catch (...) {
      }
      ::_exit(1);
    }
  }
  if (pid < 0) return Error::from_errno("cannot start the recorder", errno);
  pid_ = pid;
  started_ns_ = monotonic_ns();
  killed_ns_ = 0;
  restart_at_ns_ = 0;
  return {};
}

void RecorderMonitor::wait_for_first_sample() {
  const int64_t until = monotonic_ns() + 1000 * kNsPerMs;
  while (recorder_.memory->first_sample_taken == 0 && monotonic_ns() < until) {
    std::array<pollfd, 1> ready = {{{recorder_.ready_fd, POLLIN, 0}}};
    (void)poll_whole(ready, std::max<int64_t>(0, until - monotonic_ns()));
  }
  // Time begins now, with a gap, when the recorder did not get there.
  begin_time(*recorder_.memory);
}

void RecorderMonitor::wake() const { eventfd_write(recorder_.wake_fd, 1); }

std::string RecorderMonitor::exit_reason() const {
  const int status = recorder_.memory->last_wait_status;
  if (WIFSIGNALED(status)) {
    return fmt::format("the recorder was killed by signal {} ({})", WTERMSIG(status),
                       ::strsignal(WTERMSIG(status)));
  }
  return fmt::format("the recorder exited with code {}", WEXITSTATUS(status));
}

bool RecorderMonitor::owns(pid_t pid) const {
  return pid == pid_ || std::find(given_up_.begin(), given_up_.end(), pid) != given_up_.end();
}

void RecorderMonitor::reap() {
  const auto ended = [this](pid_t pid, int& status) {
    rusage usage{};
    if (::wait4(pid, &status, WNOHANG, &usage) != pid) return false;
    const auto ns = [](const timeval& t) { return t.tv_sec * kNsPerSecond + t.tv_usec * 1000; };
    recorder_.memory->earlier_cpu_ns += ns(usage.ru_utime) + ns(usage.ru_stime);
    return true;
  };
  int status = 0;
  std::erase_if(given_up_, [&](pid_t pid) { return ended(pid, status); });
  if (pid_ != 0 && ended(pid_, status)) plan_restart(status);
}

void RecorderMonitor::plan_restart(int wait_status) {
  const int64_t now = monotonic_ns();
  recorder_.memory->last_wait_status = wait_status;
  pid_ = 0;
  if (now - started_ns_ > kLongLife) backoff_ns_ = kFirstBackoff;
  restart_at_ns_ = now + backoff_ns_;
  backoff_ns_ = std::min(2 * backoff_ns_, kLastBackoff);
}

int64_t RecorderMonitor::check() {
  const int64_t now = monotonic_ns();
  if (pid_ == 0) {
    if (now < restart_at_ns_) return restart_at_ns_;
    restart_reason_ = killed_ns_ != 0 ? "the recorder hung and was restarted"
                                      : exit_reason() + " and was restarted";
    if (!start()) restart_at_ns_ = now + backoff_ns_;
    return pid_ == 0 ? restart_at_ns_ : now + kNsPerSecond;
  }
  const int64_t patience = std::max<int64_t>(5 * kNsPerSecond, 20 * recorder_.period_ns);
  const int64_t last = std::max(recorder_.memory->last_tick_ns.load(), started_ns_);
  if (now - last < patience) return last + patience;
  // A killed process that is blocked in the kernel never runs again: the next one may start.
  if (killed_ns_ != 0) {
    if (now - killed_ns_ < kNsPerSecond) return killed_ns_ + kNsPerSecond;
    given_up_.push_back(pid_);
    plan_restart(SIGKILL);
    return restart_at_ns_;
  }
  // A recorder that was stopped on purpose gets its full time again when it continues.
  if (process_state(pid_) == 'T') {
    seen_stopped_ns_ = now;
  } else if (now - seen_stopped_ns_ >= patience) {
    ::kill(pid_, SIGKILL);
    killed_ns_ = now;
  }
  return now + kNsPerSecond;
}

bool RecorderMonitor::wait_for_exit(int64_t limit_ns) {
  const int64_t until = monotonic_ns() + limit_ns;
  int pause_us = 100;
  while (pid_ != 0 && monotonic_ns() < until) {
    reap();
    if (pid_ == 0) break;
    if (process_state(pid_) == 'T') ::kill(pid_, SIGCONT);
    ::usleep(static_cast<useconds_t>(pause_us));
    pause_us = std::min(pause_us * 2, 5000);
  }
  return pid_ == 0;
}

// False when it hangs: neither done nor dead.
bool RecorderMonitor::wait_for_end() {
  const auto is_done = [this] {
    return recorder_.memory->finished == kAllWritten ||
           recorder_.memory->finished == kNotAllWritten;
  };
  StallWatch watch(pid_, kHangNs, kCloseLimit);
  // The output was drained first, which takes time if its reader is slow.
  const int64_t late_ns = std::max(recorder_.memory->job_ended_ns + kPatienceAfterJob,
                                   monotonic_ns() + kPatienceAfterDrain);
  while (!wait_for_exit(20 * kNsPerMs)) {
    // A thread that is blocked in a source keeps the process alive, although its work is done.
    if (is_done()) return wait_for_exit(kExitLimit), true;
    if (recorder_.memory->finished == kWriting) watch.shorten(late_ns, kLateHangNs);
    if (watch.is_over()) return false;
  }
  return true;
}

RecorderEnd RecorderMonitor::finish() {
  recorder_.memory->stop = 1;
  wake();
  for (int attempt = 0; attempt < 2; ++attempt) {
    // One that died before the end left its last samples in the ring: another one writes them.
    if (pid_ == 0) {
      recorder_.memory->finished = 0;
      restart_reason_ = exit_reason() + " near the end of the run";
      if (!start()) return RecorderEnd::not_all_written;
    }
    const bool ended = wait_for_end();
    const int32_t finished = recorder_.memory->finished;
    if (finished == kAllWritten) return RecorderEnd::all_written;
    // Another one would find the same disk.
    if (finished == kNotAllWritten) return RecorderEnd::not_all_written;
    if (ended) continue;
    if (finished == kWriting) return RecorderEnd::still_writing;
    ::kill(pid_, SIGKILL);
    wait_for_exit(kExitLimit);
    return RecorderEnd::no_reply;
  }
  return RecorderEnd::not_all_written;
}

}  // namespace trainscope
