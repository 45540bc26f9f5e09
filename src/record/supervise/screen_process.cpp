#include "record/supervise/screen_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "base/bounded_child.h"
#include "base/clock.h"
#include "base/interrupted.h"
#include "record/supervise/signal_inbox.h"

namespace trainscope {

namespace {

constexpr int kTerminal = STDERR_FILENO;
constexpr int64_t kEndNs = kNsPerSecond, kStopNs = 500 * kNsPerMs, kLookNs = 2 * kNsPerMs;
constexpr int kRoomMs = 1000;  // in which a slow terminal takes the last bytes
constexpr int kNice = 10;
// The usual screen, a visible cursor, no colours, arrow keys and keypad as usual.
constexpr std::string_view kUsualScreen = "\033[?1049l\033[?25h\033[0m\033[?1l\033>";

void sleep_ns(int64_t ns) {
  const timespec time = to_timespec(ns);
  (void)::nanosleep(&time, nullptr);
}

std::string read_to_end(int fd) {
  std::string text;
  char part[4096];
  for (;;) {
    const ssize_t n = retry_interrupted([&] { return ::read(fd, part, sizeof part); });
    if (n <= 0) return text;
    text.append(part, static_cast<size_t>(n));
    if (text.back() == '\0') return text;
  }
}

[[noreturn]] void be_screen(const ScreenFunction& show, int run_path_fd, pid_t parent) {
  SignalInbox::restore();
  ::prctl(PR_SET_NAME, "trainscope-top");
  // Without the supervisor, the output of the job is shown again.
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(0);
  be_first_oom_victim();
  (void)::setpriority(PRIO_PROCESS, 0, kNice);
  // The terminal's keys are for the job.
  sigset_t keys;
  sigemptyset(&keys);
  for (const int number : {SIGINT, SIGQUIT, SIGTSTP, SIGUSR1}) sigaddset(&keys, number);
  ::sigprocmask(SIG_BLOCK, &keys, nullptr);
  close_all_but({run_path_fd}, STDERR_FILENO + 1);
  std::string run_path = read_to_end(run_path_fd);
  if (run_path.empty() || run_path.back() != '\0') ::_exit(0);
  run_path.pop_back();
  ::_exit(show(run_path));
}

}  // namespace

Status ScreenProcess::start(const ScreenFunction& show) {
  hold_standard_descriptors();
  TS_TRY(Pipe pipe, make_pipe());
  termios mode{};
  if (::tcgetattr(kTerminal, &mode) == 0) mode_ = mode;
  const pid_t parent = ::getpid();
  pid_t pid = 0;
  {
    const SignalInbox::Hold hold;
    pid = ::fork();
    if (pid == 0) be_screen(show, pipe.read.get(), parent);
  }
  if (pid < 0) return Error::from_errno("cannot start a process", errno);
  pid_ = pid;
  run_path_ = std::move(pipe.write);
  return {};
}

bool ScreenProcess::is_waiting() const {
  if (pid_ == 0) return false;
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == 0;
}

bool ScreenProcess::cover(OutputPlan& output, const std::string& run_path) {
  if (!is_waiting() || !output.job_stdout || !output.job_stderr) return false;
  if (::isatty(STDIN_FILENO) == 1) {
    UniqueFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!null) return false;
    output.job_stdin = std::move(null);
  }
  is_shown_ = static_cast<bool>(write_all(run_path_.get(), run_path + '\0'));
  run_path_.reset();
  return is_shown_;
}

void ScreenProcess::note_end(int wait_status) {
  const bool is_clean = WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0;
  if (is_shown_ && !is_clean) is_spoilt_ = !restore_terminal(0);
  pid_ = 0;
  is_shown_ = false;
}

void ScreenProcess::pause() const {
  // Not SIGTSTP: the terminal's own may be pending there, and two would be one.
  if (!is_shown_ || ::kill(pid_, SIGUSR1) != 0) return;
  const int64_t until = monotonic_ns() + kStopNs;
  while (monotonic_ns() < until) {
    siginfo_t info{};
    const int found =
        ::waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED | WEXITED | WNOHANG | WNOWAIT);
    if (found != 0 || info.si_pid == pid_) return;
    sleep_ns(kLookNs);
  }
}

void ScreenProcess::end() {
  if (pid_ != 0) end_process();
  if (is_spoilt_) is_spoilt_ = !restore_terminal(kRoomMs);
}

void ScreenProcess::end_process() {
  run_path_.reset();
  ::kill(pid_, SIGTERM);
  ::kill(pid_, SIGCONT);
  std::optional<int> status = wait_for_end(kEndNs);
  if (!status) {
    ::kill(pid_, SIGKILL);
    status = wait_for_end(kEndNs);
  }
  note_end(status.value_or(SIGKILL));  // whoever inherits it will reap it
}

std::optional<int> ScreenProcess::wait_for_end(int64_t limit_ns) const {
  const int64_t until = monotonic_ns() + limit_ns;
  do {
    int status = 0;
    const pid_t found = ::waitpid(pid_, &status, WNOHANG);
    if (found == pid_) return status;
    if (found < 0 && errno == ECHILD) return 0;
    sleep_ns(kLookNs);
  } while (monotonic_ns() < until);
  return std::nullopt;
}

// Only as its owner. False if the terminal does not take bytes in time.
bool ScreenProcess::restore_terminal(int patience_ms) const {
  const pid_t foreground = ::tcgetpgrp(kTerminal);
  if (foreground > 0 && foreground != ::getpgrp()) return true;
  if (mode_) ::tcsetattr(kTerminal, TCSANOW, &*mode_);
  pollfd room = {kTerminal, POLLOUT, 0};
  if (poll_whole({&room, 1}, patience_ms * kNsPerMs) != 1) return false;
  if ((room.revents & POLLOUT) != 0) (void)write_all(kTerminal, kUsualScreen);
  return true;
}

}  // namespace trainscope
