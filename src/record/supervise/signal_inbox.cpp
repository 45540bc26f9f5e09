#include "record/supervise/signal_inbox.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>

#include "base/clock.h"

namespace trainscope {

namespace {

// A handler can access nothing else: the one file-level variable of the program.
struct Reached {
  std::atomic<int> write_fd{-1};       // of the inbox; -1 between two runs
  std::atomic<int> interrupted_by{0};  // the last signal that requests an end
};
Reached reached;

constexpr std::array kInterrupting = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

constexpr std::array kForwardable = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
                                     SIGUSR1, SIGUSR2, SIGTSTP, SIGWINCH};
constexpr std::array kOurs = {SIGCHLD, SIGCONT};
// A reader that has left or a limit on the size of files must not end us: the call reports it too.
constexpr std::array kIgnored = {SIGPIPE, SIGXFSZ};

struct CallersSignals {
  struct sigaction action[NSIG] = {};
  sigset_t mask{};
};

// As the caller left them. Read once: the second run of a series would find our own.
const CallersSignals& callers_signals() {
  static const CallersSignals found = [] {
    CallersSignals now;
    for (int number = 1; number < NSIG; ++number) {
      ::sigaction(number, nullptr, &now.action[number]);
    }
    ::sigprocmask(SIG_SETMASK, nullptr, &now.mask);
    return now;
  }();
  return found;
}

void note_signal(int number, siginfo_t* info, void*) {
  const int saved_errno = errno;
  const SignalNote note{number, info->si_code == SI_KERNEL, monotonic_ns()};
  if (std::find(kInterrupting.begin(), kInterrupting.end(), number) != kInterrupting.end()) {
    reached.interrupted_by = number;
  }
  (void)!::write(reached.write_fd, &note, sizeof note);
  errno = saved_errno;
}

void take(int number) {
  struct sigaction action {};
  action.sa_sigaction = note_signal;
  action.sa_flags = SA_SIGINFO;
  sigfillset(&action.sa_mask);
  ::sigaction(number, &action, nullptr);
}

}  // namespace

Result<SignalInbox> SignalInbox::open(bool runs_job) {
  const CallersSignals& callers = callers_signals();
  SignalInbox inbox;
  TS_TRY(inbox.pipe_, make_pipe(O_NONBLOCK));
  reached.write_fd = inbox.pipe_.write.get();
  // A caller that blocks SIGCHLD must not prevent us from seeing the job's end.
  sigset_t taken;
  sigemptyset(&taken);
  for (const int number : kForwardable) {
    if (callers.action[number].sa_handler == SIG_IGN && !runs_job) continue;
    // Without a job to stop with, the stop key is for us alone.
    if (number == SIGTSTP && !runs_job) continue;
    take(number);
    sigaddset(&taken, number);
  }
  for (const int number : kOurs) {
    take(number);
    sigaddset(&taken, number);
  }
  for (const int number : kIgnored) ::signal(number, SIG_IGN);
  ::sigprocmask(SIG_UNBLOCK, &taken, nullptr);
  return inbox;
}

SignalInbox::~SignalInbox() {
  if (pipe_.write) reached.write_fd = -1;
}

int SignalInbox::interrupted_by() {
  const int number = reached.interrupted_by;
  return callers_signals().action[number].sa_handler == SIG_IGN ? 0 : number;
}

std::optional<SignalNote> SignalInbox::next() {
  SignalNote note;
  if (::read(pipe_.read.get(), &note, sizeof note) != sizeof note) return std::nullopt;
  return note;
}

SignalInbox::Hold::Hold() {
  sigset_t all;
  sigfillset(&all);
  sigdelset(&all, SIGTSTP);
  ::sigprocmask(SIG_SETMASK, &all, &before_);
}

SignalInbox::Hold::~Hold() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }

void SignalInbox::restore() {
  const CallersSignals& callers = callers_signals();
  const auto give_back = [&](int number) { ::sigaction(number, &callers.action[number], nullptr); };
  for (const int number : kForwardable) give_back(number);
  for (const int number : kOurs) give_back(number);
  for (const int number : kIgnored) give_back(number);
  ::sigprocmask(SIG_SETMASK, &callers.mask, nullptr);
}

}  // namespace trainscope
