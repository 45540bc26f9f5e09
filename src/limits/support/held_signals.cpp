#include "limits/support/held_signals.h"

#include <array>

#include "base/clock.h"

namespace trainscope {

namespace {

// Those that end a process unless it handles them. Not SIGPIPE and not those of a fault in the
// program, which cannot be held.
constexpr std::array kEnding = {SIGINT,  SIGTERM,   SIGHUP,  SIGQUIT, SIGUSR1, SIGUSR2,  SIGALRM,
                                SIGPROF, SIGVTALRM, SIGXCPU, SIGIO,   SIGPWR,  SIGSTKFLT};

}  // namespace

HeldSignals::HeldSignals() {
  sigemptyset(&held_);
  for (const int number : kEnding) {
    struct sigaction action {};
    // One that the caller ignores would only wake us.
    if (::sigaction(number, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) {
      sigaddset(&held_, number);
    }
  }
  ::pthread_sigmask(SIG_BLOCK, &held_, &before_);
  struct sigaction ignored {};
  ignored.sa_handler = SIG_IGN;
  ::sigaction(SIGXFSZ, &ignored, &size_limit_);
}

void HeldSignals::deliver() {
  if (caught_ != 0) ::raise(caught_);
  ::sigaction(SIGXFSZ, &size_limit_, nullptr);
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

bool HeldSignals::wait(int64_t time_ns) {
  const int64_t until = monotonic_ns() + time_ns;
  while (caught_ == 0) {
    const int64_t left_ns = until - monotonic_ns();
    if (left_ns <= 0) return true;
    const timespec left = to_timespec(left_ns);
    const int number = ::sigtimedwait(&held_, nullptr, &left);
    if (number > 0) caught_ = number;
  }
  return false;
}

}  // namespace trainscope
