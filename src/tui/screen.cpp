// The loop of the screen: keys, signals and answers in, a painted grid out.
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/clock.h"
#include "base/fd.h"
#include "tui/background.h"
#include "tui/draw.h"
#include "tui/terminal.h"
#include "tui/tui.h"

namespace trainscope {

namespace {

constexpr int64_t kPaintPeriodNs = 100 * kNsPerMs;
constexpr int64_t kReadPauseNs = kNsPerSecond, kDiagnosePauseNs = 5 * kNsPerSecond;
constexpr int64_t kIdleNs = kNsPerSecond;

// Signals as messages, for as long as it exists.
class BlockedSignals {
 public:
  explicit BlockedSignals(bool is_of_job) {
    sigset_t taken;
    sigemptyset(&taken);
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGWINCH}) {
      sigaddset(&taken, number);
    }
    // In the background, reading and changing the terminal would stop the job as well.
    if (is_of_job) {
      sigaddset(&taken, SIGTTIN);
      sigaddset(&taken, SIGTTOU);
      sigaddset(&taken, SIGUSR1);
    }
    ::pthread_sigmask(SIG_BLOCK, &taken, &before_);
    fd_.reset(::signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  ~BlockedSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

  int fd() const { return fd_.get(); }
  std::optional<signalfd_siginfo> next() {
    signalfd_siginfo info{};
    if (::read(fd_.get(), &info, sizeof info) != sizeof info) return std::nullopt;
    return info;
  }

 private:
  sigset_t before_{};
  UniqueFd fd_;
};

// An eventfd that lives as long as somebody may signal it.
std::shared_ptr<const int> make_wake_fd() {
  const int fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  return {new int(fd), [](const int* owned) {
            ::close(*owned);
            delete owned;
          }};
}

struct NoRequest {
  bool operator==(const NoRequest&) const = default;
};

class ScreenLoop {
 public:
  ScreenLoop(const TopSource& source, const TopOptions& options, BlockedSignals& signals,
             Terminal& terminal)
      : options_(options),
        signals_(signals),
        terminal_(terminal),
        wake_fd_(make_wake_fd()),
        reader_(source.read, kReadPauseNs, wake_fd_),
        diagnoser_([diagnose = source.diagnose](const NoRequest&) { return diagnose(); },
                   kDiagnosePauseNs, wake_fd_),
        process_reader_(source.processes, kReadPauseNs, wake_fd_) {
    verdict_.text = "not known yet";
  }

  // The signal that ended it, or 0.
  int run() {
    diagnoser_.ask({});
    ask();
    while (!state_.is_over && ended_by_ == 0) {
      paint_if_due();
      wait();
      while (const auto info = signals_.next()) take_signal(*info);
      if (terminal_.is_foreground()) take_keys();
      take_answers();
    }
    return ended_by_;
  }

 private:
  int columns() const { return plot_width(terminal_.size(), state_); }

  ViewBounds bounds() const {
    return {snapshot_ ? snapshot_->duration_s : 0, columns(),
            rows_of(snapshot_ ? &*snapshot_ : nullptr, processes_, state_)};
  }

  void ask() {
    reader_.ask(request_of(state_, columns()));
    process_reader_.ask(processes_of(state_));
  }

  void wait() {
    std::array<pollfd, 3> polls = {
        {{terminal_.input_fd(), POLLIN, 0}, {signals_.fd(), POLLIN, 0}, {*wake_fd_, POLLIN, 0}}};
    const bool is_foreground = terminal_.is_foreground();
    if (!is_foreground) polls[0].fd = -1;
    const bool paints = is_changed_ && is_foreground;
    const int64_t until = paints ? painted_ns_ + kPaintPeriodNs : monotonic_ns() + kIdleNs;
    const int64_t left_ns = std::clamp<int64_t>(until - monotonic_ns(), 0, kIdleNs);
    const timespec left = to_timespec(left_ns);
    const int ready = ::ppoll(polls.data(), polls.size(), &left, nullptr);
    if (ready <= 0) {
      is_changed_ = true;  // a second has passed: how long reading takes may be shown
      return;
    }
    if ((polls[0].revents & (POLLERR | POLLHUP | POLLNVAL)) != 0) ended_by_ = SIGHUP;
    eventfd_t ignored = 0;
    if (polls[2].revents != 0) (void)::eventfd_read(*wake_fd_, &ignored);
  }

  void take_signal(const signalfd_siginfo& info) {
    const auto number = static_cast<int>(info.ssi_signo);
    if (number == SIGTTIN || number == SIGTTOU) return;
    // The job decides what these mean for it.
    const bool is_for_job =
        options_.is_of_job && (number == SIGINT || number == SIGQUIT || info.ssi_code == SI_KERNEL);
    if (number == SIGWINCH) {
      ask();
      is_changed_ = true;
    } else if (number == SIGUSR1 || (number == SIGTSTP && !options_.is_of_job)) {
      stop();
    } else if (number == SIGTSTP) {
      return;  // the supervisor sends SIGUSR1 if the job obeys
    } else if (!is_for_job || number == SIGHUP) {
      ended_by_ = number;
    }
  }

  // The stop key: the terminal is given back while this process is stopped.
  void stop() {
    terminal_.close();
    ::raise(SIGSTOP);
    is_changed_ = true;
  }

  void take_keys() {
    while (const auto key = terminal_.read_key()) {
      apply_key(state_, *key, bounds());
      is_changed_ = true;
      if (state_.is_over) return;
    }
    if (is_changed_) ask();
  }

  void take_answers() {
    if (auto verdict = diagnoser_.take()) {
      verdict_ = std::move(*verdict);
      is_changed_ = true;
    }
    if (auto processes = process_reader_.take()) {
      processes_ = std::move(*processes);
      is_changed_ = true;
    }
    auto snapshot = reader_.take();
    if (!snapshot) return;
    const bool is_first = !snapshot_.has_value();
    snapshot_ = std::move(*snapshot);
    is_changed_ = true;
    if (!is_first) return;
    begin_view(state_, snapshot_->is_running, bounds());
    ask();
  }

  void paint_if_due() {
    if (!is_changed_ || monotonic_ns() < painted_ns_ + kPaintPeriodNs) return;
    if (!terminal_.is_foreground()) return;
    TopContent content;
    content.snapshot = snapshot_ ? &*snapshot_ : nullptr;
    content.verdict = verdict_;
    content.processes = processes_;
    content.reading_s = std::max(reader_.busy_s(), process_reader_.busy_s());
    content.is_of_job = options_.is_of_job;
    terminal_.paint(draw_top(content, state_, terminal_.size(), terminal_.charset()));
    painted_ns_ = monotonic_ns();
    is_changed_ = false;
  }

  const TopOptions& options_;
  BlockedSignals& signals_;
  Terminal& terminal_;
  TopState state_;
  std::optional<TopSnapshot> snapshot_;
  TopVerdict verdict_;
  TopProcesses processes_;
  bool is_changed_ = true;
  int ended_by_ = 0;
  int64_t painted_ns_ = 0;
  std::shared_ptr<const int> wake_fd_;
  Background<ViewRequest, TopSnapshot> reader_;
  Background<NoRequest, TopVerdict> diagnoser_;
  Background<ProcessRequest, TopProcesses> process_reader_;
};

}  // namespace

Result<int> show_top(const TopSource& source, const TopOptions& options) {
  BlockedSignals signals(options.is_of_job);
  TS_TRY(const std::unique_ptr<Terminal> terminal, Terminal::open(options.theme));
  return ScreenLoop(source, options, signals, *terminal).run();
}

}  // namespace trainscope
