#include "record/supervise/output.h"

#include <fcntl.h>
#include <linux/kcmp.h>
#include <linux/magic.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/clock.h"
#include "record/intake/printed.h"

namespace trainscope {

namespace {

constexpr size_t kSpliceBytes = 1 << 20;
constexpr int kPipeBytes = 1 << 20;

bool would_block(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

// Are these two descriptors one open file? Without kcmp: the same file with the same flags.
bool same_open_file(int a, int b) {
  const long order = ::syscall(SYS_kcmp, getpid(), getpid(), KCMP_FILE, a, b);
  if (order >= 0) return order == 0;
  struct stat sa {
  }, sb{};
  if (::fstat(a, &sa) != 0 || ::fstat(b, &sb) != 0) return false;
  return sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino && sa.st_rdev == sb.st_rdev &&
         fcntl(a, F_GETFL) == fcntl(b, F_GETFL);
}

Result<UniqueFd> duplicate(int fd) {
  // Above the standard ones, so that dup2 in the job cannot hit it.
  const int copy = fcntl(fd, F_DUPFD_CLOEXEC, 10);
  if (copy < 0) return Error::from_errno("cannot duplicate a descriptor", errno);
  return UniqueFd(copy);
}

// Our own open file of a terminal that never blocks; the caller's, which other processes share,
// stays unchanged. If it may not be opened (another user's): the caller's.
Result<UniqueFd> own_terminal(int fd) {
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  UniqueFd opened(::open(path.c_str(), O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
  return opened ? duplicate(opened.get()) : duplicate(fd);
}

// All writers have closed the pipe, and it is empty.
bool has_hung_up(int fd) {
  pollfd ended = {fd, POLLIN, 0};
  return ::poll(&ended, 1, 0) == 1 && (ended.revents & (POLLIN | POLLHUP)) == POLLHUP;
}

}  // namespace

bool OutputChannel::waits_for_reader(const Shared& shared) const {
  if (is_closed() || is_muted_) return false;
  const SharedBuffer& buffer = shared.buffers[index_];
  return transfer_ == Transfer::splice ? downstream_full_ : buffer.begin != buffer.end;
}

pollfd OutputChannel::poll_request(const Shared& shared) const {
  if (is_closed()) return {-1, 0, 0};
  if (!waits_for_reader(shared)) return {read_end_.get(), POLLIN, 0};
  if (both_ends_) return {both_ends_.get(), POLLIN, 0};
  return {user_fd_.get(), POLLOUT, 0};
}

size_t OutputChannel::pump(Shared& shared, int log_fd) {
  if (is_closed()) return 0;
  return transfer_ == Transfer::splice ? pump_splice(shared, log_fd) : pump_copy(shared, log_fd);
}

void OutputChannel::downstream_closed(Shared& shared) {
  shared.closed_channels |= 1U << index_;
  close();
}

// The rest of a line must not follow the begin of another one. The text is short enough to be
// written as a whole or not at all.
bool OutputChannel::may_log(Shared& shared, int log_fd) const {
  if (log_fd < 0) return false;
  const uint32_t ours = 1U << index_;
  if ((shared.output_gaps & ours) == 0) return true;
  if (::write(log_fd, kOutputGap.data(), kOutputGap.size()) < 0) return false;
  shared.output_gaps &= ~ours;
  return true;
}

void OutputChannel::note_dropped(Shared& shared, int log_fd, int64_t bytes) const {
  shared.output_dropped += bytes;
  shared.output_unsearched += bytes;
  if (log_fd >= 0) shared.output_gaps |= 1U << index_;
}

// While the reader is slow: the job's end of the pipe wakes us at each write (edge-triggered: its
// bytes stay there), the reader's end when it has space. Without it only the latter is awaited.
void OutputChannel::watch_both_ends() {
  if (both_ends_) return;
  UniqueFd both(::epoll_create1(EPOLL_CLOEXEC));
  epoll_event readable{}, writable{};
  readable.events = EPOLLIN | EPOLLET;
  writable.events = EPOLLOUT;
  if (::epoll_ctl(both.get(), EPOLL_CTL_ADD, read_end_.get(), &readable) != 0 ||
      ::epoll_ctl(both.get(), EPOLL_CTL_ADD, user_fd_.get(), &writable) != 0) {
    return;
  }
  both_ends_ = std::move(both);
}

void OutputChannel::note_unlogged(Shared& shared) const {
  int waiting = 0;
  // What a process left behind prints is not waited for, and does not lack.
  if (!waits_for_reader(shared)) return;
  if (is_closed() || ::ioctl(read_end_.get(), FIONREAD, &waiting) != 0) return;
  const int64_t unlogged = waiting - static_cast<int64_t>(logged_ahead_);
  if (unlogged <= 0) return;
  shared.output_dropped += unlogged;
  shared.output_unsearched += unlogged;
}

// tee(2) copies from the head of a pipe: what the log has already is skipped in a pipe between.
size_t OutputChannel::copy_to_log(int log_fd) {
  if (logged_ahead_ == 0) {
    const ssize_t copied = ::tee(read_end_.get(), log_fd, kSpliceBytes, SPLICE_F_NONBLOCK);
    return copied > 0 ? static_cast<size_t>(copied) : 0;
  }
  int waiting = 0;
  if (::ioctl(read_end_.get(), FIONREAD, &waiting) != 0) return 0;
  if (static_cast<size_t>(waiting) <= logged_ahead_) return 0;
  auto between = make_pipe(O_NONBLOCK);
  const UniqueFd nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  if (!between || !nowhere) return 0;
  fcntl(between->read.get(), F_SETPIPE_SZ, kPipeBytes);
  const ssize_t copied =
      ::tee(read_end_.get(), between->write.get(), kSpliceBytes, SPLICE_F_NONBLOCK);
  if (copied <= static_cast<ssize_t>(logged_ahead_)) return 0;
  for (size_t left = logged_ahead_; left > 0;) {
    const ssize_t skipped =
        ::splice(between->read.get(), nullptr, nowhere.get(), nullptr, left, SPLICE_F_NONBLOCK);
    if (skipped <= 0) return 0;
    left -= static_cast<size_t>(skipped);
  }
  const ssize_t logged =
      ::splice(between->read.get(), nullptr, log_fd, nullptr, kSpliceBytes, SPLICE_F_NONBLOCK);
  return logged > 0 ? static_cast<size_t>(logged) : 0;
}

size_t OutputChannel::pump_splice(Shared& shared, int log_fd) {
  if (both_ends_) {
    std::array<epoll_event, 2> seen{};  // what they report is looked at below
    (void)::epoll_wait(both_ends_.get(), seen.data(), seen.size(), 0);
  }
  if (may_log(shared, log_fd)) logged_ahead_ += copy_to_log(log_fd);
  const bool logged = logged_ahead_ > 0;
  const ssize_t moved =
      ::splice(read_end_.get(), nullptr, user_fd_.get(), nullptr,
               logged ? logged_ahead_ : kSpliceBytes, SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
  if (moved > 0) {
    downstream_full_ = false;
    if (logged) {
      logged_ahead_ -= static_cast<size_t>(moved);
    } else {
      note_dropped(shared, log_fd, moved);
    }
    return static_cast<size_t>(moved);
  }
  if (moved == 0) {
    close();  // all writers have closed it
    return 0;
  }
  if (would_block(errno)) {
    int waiting = 0;
    // Refused although bytes are waiting: the reader downstream is slow.
    downstream_full_ = ::ioctl(read_end_.get(), FIONREAD, &waiting) == 0 && waiting > 0;
    if (downstream_full_) watch_both_ends();
    // A reader's pipe that is full is refused before it is seen that no more will come.
    if (!downstream_full_ && has_hung_up(read_end_.get())) close();
  } else if (errno != EINTR) {
    downstream_closed(shared);
  }
  return 0;
}

// Reads into the shared buffer when it is empty; false when there is nothing to pass on.
bool OutputChannel::fill(Shared& shared, int log_fd) {
  SharedBuffer& buffer = shared.buffers[index_];
  if (buffer.begin != buffer.end) return true;
  const ssize_t n = ::read(read_end_.get(), buffer.data, kChannelBytes);
  if (n > 0) {
    buffer.begin = 0;
    buffer.end = static_cast<uint32_t>(n);
    if (log_fd >= 0) {
      const ssize_t kept =
          may_log(shared, log_fd) ? ::write(log_fd, buffer.data, static_cast<size_t>(n)) : -1;
      const ssize_t dropped = n - std::max<ssize_t>(0, kept);
      if (dropped > 0) note_dropped(shared, log_fd, dropped);
    }
    return true;
  }
  // A pty fails with EIO when its last writer has closed it.
  if (n == 0 || (!would_block(errno) && errno != EINTR)) close();
  return false;
}

size_t OutputChannel::pump_copy(Shared& shared, int log_fd) {
  if (!fill(shared, log_fd)) return 0;
  SharedBuffer& buffer = shared.buffers[index_];
  const char* from = buffer.data + buffer.begin;
  const size_t left = buffer.end - buffer.begin;
  if (is_muted_) {
    buffer.begin = buffer.end = 0;
    return left;
  }
  ssize_t n = ::send(user_fd_.get(), from, left, MSG_DONTWAIT | MSG_NOSIGNAL);
  // If the terminal could not be opened again, writing may block (Ctrl-S): poll before, and write
  // small pieces, so that signals are handled in between.
  if (n < 0 && errno == ENOTSOCK) {
    pollfd room = {user_fd_.get(), POLLOUT, 0};
    if (::poll(&room, 1, 0) == 0) return 0;
    n = ::write(user_fd_.get(), from, std::min<size_t>(left, 4096));
  }
  if (n > 0) {
    at_line_start_ = from[n - 1] == '\n';
    buffer.begin += static_cast<uint32_t>(n);
    if (buffer.begin == buffer.end) buffer.begin = buffer.end = 0;
    return static_cast<size_t>(n);
  }
  if (n < 0 && !would_block(errno) && errno != EINTR) downstream_closed(shared);
  return 0;
}

// Each splice(2) takes a buffer of the reader's pipe, however few bytes it moves: sixteen short
// lines fill a pipe that takes thousands from a job without us. With as much space as the job's
// pipe has, nobody waits for a reader that comes later.
void OutputChannel::make_space_downstream(const Shared& shared) {
  if (transfer_ != Transfer::splice || !waits_for_reader(shared)) return;
  if (::fcntl(user_fd_.get(), F_GETPIPE_SZ) < kPipeBytes) {
    ::fcntl(user_fd_.get(), F_SETPIPE_SZ, kPipeBytes);
  }
}

void OutputChannel::drain(Shared& shared, int log_fd, int patience_ms) {
  const int64_t until = monotonic_ns() + int64_t{patience_ms} * 1'000'000;
  size_t passed = 0;
  // More than a pipeful did not come from the job's first process: it has ended.
  while (!is_closed() && passed < size_t{kPipeBytes} + kChannelBytes) {
    make_space_downstream(shared);
    pollfd want = poll_request(shared);
    const bool reading = !waits_for_reader(shared);
    const int left_ms = static_cast<int>((until - monotonic_ns()) / 1'000'000);
    // All output of the job has arrived; wait only for a slow reader downstream.
    const int ready = ::poll(&want, 1, reading ? 0 : std::max(left_ms, 0));
    if (ready == 0) return;
    const size_t moved = ready > 0 ? pump(shared, log_fd) : 0;
    // Whatever woke us: a job's end is not waited for longer than this.
    if (moved == 0 && monotonic_ns() >= until) return;
    passed += moved;
  }
}

namespace {

Result<Pipe> make_output_pipe() {
  TS_TRY(Pipe pipe, make_pipe());
  // The job should not wait for us sooner than for the pipe that it would have had.
  fcntl(pipe.read.get(), F_SETPIPE_SZ, kPipeBytes);
  fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK);
  return pipe;
}

// A pty whose slave takes the job's output as it is: no echo, no newline translation. Its master is
// the end to read from.
Result<Pipe> make_output_pty(int user_terminal) {
  UniqueFd master(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
  if (!master) return Error::from_errno("cannot open a pty", errno);
  if (::grantpt(master.get()) != 0 || ::unlockpt(master.get()) != 0) {
    return Error::from_errno("cannot unlock a pty", errno);
  }
  const int slave_fd = ::ioctl(master.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (slave_fd < 0) return Error::from_errno("cannot open a pty's other end", errno);
  UniqueFd slave(slave_fd);
  termios mode{};
  if (::tcgetattr(user_terminal, &mode) == 0 || ::tcgetattr(slave.get(), &mode) == 0) {
    mode.c_oflag &= ~static_cast<tcflag_t>(OPOST);
    mode.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    ::tcsetattr(slave.get(), TCSANOW, &mode);
  }
  winsize size{};
  if (::ioctl(user_terminal, TIOCGWINSZ, &size) == 0) ::ioctl(master.get(), TIOCSWINSZ, &size);
  return Pipe{std::move(master), std::move(slave)};
}

enum class Target { inherit, follow, pipe, socket, terminal };

Target target_of(int fd) {
  struct stat st {};
  if (::fstat(fd, &st) != 0) return Target::inherit;
  if (S_ISREG(st.st_mode)) return Target::follow;
  if (S_ISFIFO(st.st_mode)) return Target::pipe;
  if (S_ISSOCK(st.st_mode)) return Target::socket;
  return ::isatty(fd) == 1 ? Target::terminal : Target::inherit;
}

// Two descriptors of one terminal are one terminal, however they were opened.
bool same_terminal() {
  struct stat out {
  }, err{};
  return ::fstat(STDOUT_FILENO, &out) == 0 && ::fstat(STDERR_FILENO, &err) == 0 &&
         S_ISCHR(out.st_mode) && out.st_rdev == err.st_rdev;
}

bool same_file() {
  struct stat out {
  }, err{};
  return ::fstat(STDOUT_FILENO, &out) == 0 && ::fstat(STDERR_FILENO, &err) == 0 &&
         out.st_dev == err.st_dev && out.st_ino == err.st_ino;
}

// A FIFO may be opened for reading again; an anonymous pipe or a socket that was left stays so.
bool has_no_name(int fd, Target target) {
  struct statfs on {};
  if (target == Target::pipe) return ::fstatfs(fd, &on) == 0 && on.f_type == PIPEFS_MAGIC;
  return target == Target::socket;
}

// Why lines that the job prints to stdout are lost, and the alternatives; empty if they are not
// lost. A closed descriptor is our own /dev/null, which the job does not inherit.
std::string why_stdout_is_unseen() {
  struct stat out {
  }, null{};
  const bool is_open = ::fstat(STDOUT_FILENO, &out) == 0;
  const bool is_null = is_open && ::stat("/dev/null", &null) == 0 && S_ISCHR(out.st_mode) &&
                       S_ISCHR(null.st_mode) && out.st_rdev == null.st_rdev;
  if (is_open && !is_null) return "";
  const bool is_closed = !is_open || (::fcntl(STDOUT_FILENO, F_GETFD) & FD_CLOEXEC) != 0;
  return std::string(is_closed ? "stdout is closed" : "stdout is /dev/null") +
         "; try trainscope send or --tensorboard";
}

Status plan_one(OutputPlan& plan, int fd, Target target, UniqueFd& job_end) {
  Pipe ends;
  if (target == Target::terminal) {
    TS_TRY(ends, make_output_pty(fd));
  } else {
    TS_TRY(ends, make_output_pipe());
  }
  TS_TRY(UniqueFd user_fd, target == Target::terminal ? own_terminal(fd) : duplicate(fd));
  const auto index = static_cast<uint32_t>(plan.channels.size());
  const auto transfer =
      target == Target::pipe ? OutputChannel::Transfer::splice : OutputChannel::Transfer::copy;
  plan.channels.emplace_back(transfer, std::move(ends.read), std::move(user_fd),
                             target == Target::terminal, has_no_name(fd, target), index);
  job_end = std::move(ends.write);
  return {};
}

}  // namespace

Result<OutputPlan> plan_output() {
  OutputPlan plan;
  plan.unseen = why_stdout_is_unseen();
  const Target out = target_of(STDOUT_FILENO), err = target_of(STDERR_FILENO);
  const auto passed = [](Target t) { return t != Target::inherit && t != Target::follow; };
  const bool one = out == err && passed(out) &&
                   (same_open_file(STDOUT_FILENO, STDERR_FILENO) || same_terminal());
  if (passed(out)) TS_CHECK_OK(plan_one(plan, STDOUT_FILENO, out, plan.job_stdout));
  if (one) {
    TS_TRY(plan.job_stderr, duplicate(plan.job_stdout.get()));
  } else if (passed(err)) {
    TS_CHECK_OK(plan_one(plan, STDERR_FILENO, err, plan.job_stderr));
  }
  if (out == Target::follow) plan.followed.push_back(STDOUT_FILENO);
  // Once, however it was opened: its lines are there for both.
  if (err == Target::follow && !(out == err && same_file())) {
    plan.followed.push_back(STDERR_FILENO);
  }
  return plan;
}

void copy_window_size(const OutputPlan& plan) {
  for (const OutputChannel& channel : plan.channels) {
    if (!channel.is_terminal() || channel.is_closed()) continue;
    winsize size{};
    if (::ioctl(channel.user_fd(), TIOCGWINSZ, &size) != 0) continue;
    ::ioctl(channel.read_fd(), TIOCSWINSZ, &size);
  }
}

}  // namespace trainscope
