#include "record/signal_inbox.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>

#include "base/clock.h"

namespace trainscope {

namespace {

// A handler can reach nothing else: the one file-level variable of the program.
std::atomic<int> inbox_write_fd{-1};

constexpr std::array kForwardable = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
                                     SIGUSR1, SIGUSR2, SIGTSTP, SIGWINCH};

void note_signal(int number, siginfo_t* info, void*) {
  const int saved_errno = errno;
  const SignalNote note{number, info->si_code == SI_KERNEL, monotonic_ns()};
  (void)!::write(inbox_write_fd, &note, sizeof note);
  errno = saved_errno;
}

}  // namespace

Result<SignalInbox> SignalInbox::open() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC | O_NONBLOCK) != 0)
    return Error::from_errno("cannot make a pipe", errno);
  SignalInbox inbox;
  inbox.read_end_.reset(fds[0]);
  inbox.write_end_.reset(fds[1]);
  inbox_write_fd = fds[1];
  const auto change = [&](int number, bool even_when_ignored) {
    struct sigaction before {};
    ::sigaction(number, nullptr, &before);
    inbox.before_.emplace_back(number, before);
    if (before.sa_handler == SIG_IGN && !even_when_ignored) return;
    struct sigaction action {};
    action.sa_sigaction = note_signal;
    action.sa_flags = SA_SIGINFO;
    sigfillset(&action.sa_mask);
    ::sigaction(number, &action, nullptr);
  };
  for (const int number : kForwardable) change(number, false);
  change(SIGCHLD, true);
  change(SIGCONT, true);
  struct sigaction before {
  }, ignore{};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, &before);
  inbox.before_.emplace_back(SIGPIPE, before);
  return inbox;
}

std::optional<SignalNote> SignalInbox::next() {
  SignalNote note;
  if (::read(read_end_.get(), &note, sizeof note) != sizeof note) return std::nullopt;
  return note;
}

void SignalInbox::restore() const {
  for (const auto& [number, action] : before_) ::sigaction(number, &action, nullptr);
}

}  // namespace trainscope
