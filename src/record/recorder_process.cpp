#include "record/recorder_process.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/bounded_child.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/freed_memory.h"

namespace trainscope {

namespace {

// The supervisor reads them in the other order: whoever sees the time sees the sighting counted.
void note_signal(SharedMemory& memory, int number) {
  ++memory->signal_sightings[number];
  memory->signal_seen_ns[number] = monotonic_ns();
}

}  // namespace

void prepare_recorder_process() {
  prctl(PR_SET_NAME, "trainscope-rec");
  // Memory for the inventory and for writing a block is returned to the kernel.
  keep_little_freed_memory(1, 128 * 1024);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  // Die before the job when memory runs out, whatever the job's own value is or becomes, and
  // however large the job is: a difference of 500 weighs as much as half of the machine's memory,
  // no more.
  be_first_oom_victim();
  // Two descriptors a process of the job, and a job may have thousands.
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
  }
  null_standard_streams();
}

void note_signals(SharedMemory& memory, int signal_fd) {
  sigset_t waiting;
  sigemptyset(&waiting);
  sigpending(&waiting);
  for (int number = 1; number < static_cast<int>(kMaxSignals); ++number) {
    if (sigismember(&waiting, number) == 1) note_signal(memory, number);
  }
  signalfd_siginfo info{};
  while (::read(signal_fd, &info, sizeof info) == sizeof info) {
    const auto number = static_cast<int>(info.ssi_signo);
    if (info.ssi_signo >= kMaxSignals) continue;
    const bool is_noted = sigismember(&waiting, number) == 1;
    sigdelset(&waiting, number);
    if (!is_noted) note_signal(memory, number);
  }
}

}  // namespace trainscope
