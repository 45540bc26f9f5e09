#include "record/supervise/supervisor.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>

#include "base/clock.h"
#include "base/text.h"
#include "kernel/process_handle.h"
#include "kernel/process_tree.h"
#include "kernel/schedstat.h"
#include "record/supervise/reaped_io.h"

namespace trainscope {

namespace {

constexpr int64_t kStatusPeriod = 500 * kNsPerMs;
// Exit code of `run` if we could not start a process.
constexpr int kFailedBeforeJob = 125;

int64_t ns(const timeval& t) { return t.tv_sec * kNsPerSecond + t.tv_usec * 1000; }

// A file of the working directory, which is found by its path only: what to type instead.
std::string hint_for_local_file(const std::string& name) {
  if (name.find('/') != std::string::npos || !exists(name)) return "";
  const std::string before = name.ends_with(".py") ? "python3 " : "./";
  return fmt::format(" in PATH; try: trainscope run -- {}{}", before, printable(name));
}

// Is it below us in the tree of processes now?
bool is_descendant(pid_t pid) {
  const pid_t self = ::getpid();
  ProcessStat stat;
  while (pid > 1 && read_stat("", pid, stat)) {
    if (stat.parent == self) return true;
    pid = stat.parent;
  }
  return false;
}

// Between reading /proc and the signal a process may have ended and its pid been reused: the handle
// refers to one process, which is the job's if it was below us and has not ended since.
void kill_descendants(std::span<const pid_t> spared) {
  for (const pid_t pid : descendants("", ::getpid(), spared)) {
    const ProcessHandle process(pid);
    if (is_descendant(pid) && !process.has_ended()) (void)process.send(SIGKILL);
  }
}

}  // namespace

Supervisor::Supervisor(SharedMemory memory, OutputPlan& output, SignalInbox& signals,
                       RecorderMonitor& monitor, StatusLine& status, int log_write_fd)
    : memory_(memory),
      output_(output),
      signals_(signals),
      monitor_(monitor),
      status_(status),
      log_write_fd_(log_write_fd) {}

JobEnd Supervisor::run(const std::vector<std::string>& command,
                       const std::map<std::string, std::string>& environment, int64_t for_ns,
                       int64_t grace_ns) {
  end_.reset();
  pending_.clear();  // they were the last job's
  is_child_ = true;
  limit_reached_ = false;
  grace_ns_ = grace_ns;
  kill_at_ns_ = 0;
  limit_at_ns_ = for_ns == 0 ? 0 : monotonic_ns() + for_ns;
  const auto launched = launch(command, environment, output_);
  if (!launched) {
    print_message(launched.error().message());
    return {kFailedBeforeJob, std::nullopt, EndedBy::not_started, monotonic_ns()};
  }
  if (launched->exec_error != 0) {
    const int error = launched->exec_error;
    print_message(fmt::format("cannot run {}: {}{}", printable(command[0]), ::strerror(error),
                              error == ENOENT ? hint_for_local_file(command[0]) : ""));
    return {error == ENOENT ? 127 : 126, std::nullopt, EndedBy::not_started, monotonic_ns()};
  }
  job_pid_ = launched->pid;
  memory_->job_start_ticks = start_ticks(job_pid_);
  memory_->job_pid = job_pid_;
  monitor_.wake();
  while (!end_) poll_once(-1);
  uncover();
  status_.wipe();
  return *end_;
}

// What the job has printed so far is in its log only.
void Supervisor::uncover() {
  if (!is_covered()) return;
  drain_output(0);
  screen_->end();
  for (OutputChannel& channel : output_.channels) channel.set_muted(false);
}

JobEnd Supervisor::follow(pid_t pid, const ProcessHandle& process, int64_t for_ns) {
  is_child_ = false;
  job_pid_ = pid;
  memory_->job_start_ticks = start_ticks(pid);
  memory_->job_pid = pid;
  monitor_.wake();
  limit_at_ns_ = for_ns == 0 ? 0 : monotonic_ns() + for_ns;
  for (;;) {
    poll_once(process.fd());
    const int64_t now = monotonic_ns();
    const bool gone = process.has_ended();
    const bool over = interrupted_ || (limit_at_ns_ != 0 && now >= limit_at_ns_);
    if (!gone && !over) continue;
    status_.wipe();
    // Its parent gets its exit status; we do not.
    return {std::nullopt, std::nullopt, gone ? EndedBy::unknown : EndedBy::detached, now};
  }
}

// One turn of the loop: waits for something to do, and does it.
void Supervisor::poll_once(int extra_fd) {
  std::array<pollfd, 2 + 2 * kMaxChannels> polls = {
      {{signals_.fd(), POLLIN, 0}, {extra_fd, POLLIN, 0}}};
  nfds_t count = 2;
  for (const OutputChannel& channel : output_.channels) {
    polls[count++] = channel.reader();
    polls[count++] = channel.poll_request(*memory_);
  }
  const int64_t wait_ns = std::max<int64_t>(0, next_moment() - monotonic_ns());
  const timespec wait = to_timespec(wait_ns);
  ::ppoll(polls.data(), count, &wait, nullptr);
  pump_output();
  for (size_t c = 0; c < output_.channels.size(); ++c) {
    OutputChannel& channel = output_.channels[c];
    if (channel.is_closed() || (polls[2 + 2 * c].revents & (POLLERR | POLLHUP)) == 0) continue;
    channel.downstream_closed(*memory_);
    monitor_.wake();
  }
  while (const auto note = signals_.next()) handle_signal(*note);
  forward_pending();
  const int64_t now = monotonic_ns();
  if (now >= monitor_at_ns_) monitor_at_ns_ = monitor_.check();
  if (is_child_) enforce_limit();
  show_messages();
  if (status_.enabled() && now >= status_at_ns_) {
    if (!is_covered()) status_.draw(*memory_, at_line_start());
    status_at_ns_ = now + kStatusPeriod;
  }
}

int64_t Supervisor::next_moment() const {
  int64_t next = monitor_at_ns_;
  if (limit_at_ns_ != 0) next = std::min(next, limit_at_ns_);
  if (kill_at_ns_ != 0) next = std::min(next, kill_at_ns_);
  if (status_.enabled()) next = std::min(next, status_at_ns_);
  for (const PendingForward& p : pending_)
    next = std::min(next, p.arrived_ns + SignalWitness::kUsualTime);
  return next;
}

void Supervisor::handle_signal(const SignalNote& note) {
  switch (note.number) {
    case SIGCHLD:
      reap_children();
      monitor_.reap();
      monitor_at_ns_ = 0;
      return;
    case SIGWINCH:
      copy_window_size(output_);
      // The job got its own SIGWINCH from the terminal, but may have read the size before the copy.
      if (is_child_ && !end_) ::kill(job_pid_, SIGWINCH);
      return;
    case SIGTSTP:
      stop_key_ns_ = note.time_ns;
      break;
    case SIGINT:
    case SIGTERM:
    case SIGHUP:
    case SIGQUIT:
      interrupted_ = true;
      break;
    default:
      break;
  }
  if (!is_child_) return;
  // A terminal's keys reach the whole group; only the session's leader learns that the terminal has
  // disappeared.
  const bool for_us_alone = note.number == SIGHUP && ::getsid(0) == ::getpid();
  if (note.from_kernel && !for_us_alone) {
    witness_.expect(note.number, note.time_ns, sightings_of(*memory_, note.number));
    send_to_own_group(note.number);
  } else {
    pending_.push_back({note.number, note.time_ns});
  }
}

// A signal has reached our group. A job that moved to its own group (timeout does) would have led
// this one without us, and would have got the signal with all its members. A job in another session
// (setsid) would not.
void Supervisor::send_to_own_group(int number) {
  if (end_ || job_pid_ == 0) return;
  const pid_t group = ::getpgid(job_pid_);
  if (group < 0 || group == ::getpgrp() || ::getsid(job_pid_) != ::getsid(0)) return;
  if (number == SIGCONT && process_state(job_pid_) != 'T') return;  // it is running again
  // Not reaped yet, so no other process or group has this number.
  ::kill(group == job_pid_ ? -group : job_pid_, number);
}

// Forwards signals that were sent to us alone; those that the recorder saw as well were sent to the
// whole group.
void Supervisor::forward_pending() {
  const int64_t now = monotonic_ns();
  std::erase_if(pending_, [&](const PendingForward& p) {
    const bool may_come = now - p.arrived_ns < SignalWitness::kUsualTime && monitor_.pid() != 0;
    // A recorder that had no time to look has the signal waiting. Asked first: it notes a signal
    // before it takes it.
    const bool waits = !may_come && signal_waits(monitor_.pid(), p.number);
    const Sightings sightings = sightings_of(*memory_, p.number);
    const bool is_seen = witness_.is_seen(p.number, p.arrived_ns, sightings);
    if (!is_seen && waits) witness_.expect(p.number, p.arrived_ns, sightings);
    if (is_seen || waits) {
      send_to_own_group(p.number);
      return true;
    }
    if (may_come) return false;
    // A job that is running again has had its SIGCONT.
    const bool needless = p.number == SIGCONT && process_state(job_pid_) != 'T';
    if (!needless && !end_) ::kill(job_pid_, p.number);
    return true;
  });
}

void Supervisor::reap_children() {
  for (;;) {
    siginfo_t info{};
    if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) break;
    if (monitor_.owns(info.si_pid)) {
      monitor_.reap();
      continue;
    }
    if (info.si_pid == job_pid_ && !end_) {
      const bool exited = info.si_code == CLD_EXITED;
      JobEnd end;
      end.ended_ns = monotonic_ns();
      (exited ? end.exit_code : end.signal) = info.si_status;
      end.ended_by = limit_reached_ ? EndedBy::time_limit
                     : exited       ? EndedBy::exit
                                    : EndedBy::signal;
      end_ = end;
      note_first_end(end.ended_ns);
    }
    if (std::erase(ignored_children_, info.si_pid) > 0) {
      int status = 0;
      ::waitpid(info.si_pid, &status, WNOHANG);
      if (screen_ != nullptr && info.si_pid == screen_->pid()) screen_->note_end(status);
    } else {
      account(info.si_pid);
    }
  }
  siginfo_t changed{};
  if (end_ || job_pid_ == 0 ||
      ::waitid(P_PID, static_cast<id_t>(job_pid_), &changed, WSTOPPED | WCONTINUED | WNOHANG) !=
          0 ||
      changed.si_pid != job_pid_) {
    return;
  }
  const bool is_stopped = changed.si_code == CLD_STOPPED;
  memory_->job_stop_signal = is_stopped ? changed.si_status : 0;
  monitor_.wake();
  if (is_stopped) mirror_stop(changed.si_status);
}

// What its first thread did is known only until it is reaped.
void Supervisor::note_first_end(int64_t ended_ns) {
  ThreadTimes times;
  const auto text = read_file(fmt::format("/proc/{}/schedstat", job_pid_));
  if (!text || !parse_schedstat(*text, times)) return;
  JobFirstEnd& end = memory_->first_end;
  end.pid = job_pid_;
  end.start_ticks = memory_->job_start_ticks.load();
  end.run_ns = times.run_ns;
  end.wait_ns = times.wait_ns;
  end.ended_ns = ended_ns;
}

// Reaps an ended process of the job and stores its final numbers.
void Supervisor::account(pid_t pid) {
  memory_->reaped.note(pid);  // before it is gone, or it would look like one that nobody reaped
  rusage usage{};
  const auto reap = [&] { return ::wait4(pid, nullptr, WNOHANG, &usage) == pid; };
  Reaped& sum = memory_->reaped;
  if (pid == memory_->gpu_pid) {  // left by a recorder that was killed
    (void)reap();
    return;
  }
  const SignalInbox::Hold hold;
  if (!reap_with_io(reap, sum)) return;
  sum.user_ns += ns(usage.ru_utime);
  sum.system_ns += ns(usage.ru_stime);
  sum.minor_faults += usage.ru_minflt;
  sum.major_faults += usage.ru_majflt;
  sum.voluntary_switches += usage.ru_nvcsw;
  sum.involuntary_switches += usage.ru_nivcsw;
}

// The job was stopped from the terminal: stop as well, so that the shell gets control.
void Supervisor::mirror_stop(int stop_signal) {
  const bool by_key = monotonic_ns() - stop_key_ns_ < kNsPerSecond;
  const bool by_terminal =
      stop_signal == SIGTSTP || stop_signal == SIGTTIN || stop_signal == SIGTTOU;
  if (!by_terminal && !by_key) return;  // somebody stopped the job alone
  drain_output();
  status_.wipe();
  if (is_covered()) screen_->pause();
  memory_->supervisor_has_stopped = 1;
  monitor_.wake();
  ::raise(SIGSTOP);
  memory_->supervisor_has_stopped = 0;
}

void Supervisor::enforce_limit() {
  const int64_t now = monotonic_ns();
  if (memory_->has_probe_finished.exchange(0) != 0 && !limit_reached_) limit_at_ns_ = now;
  if (end_ || limit_at_ns_ == 0) return;
  if (!limit_reached_ && now >= limit_at_ns_) {
    limit_reached_ = true;
    kill_at_ns_ = now + grace_ns_;
    limit_at_ns_ = kill_at_ns_;
    ::kill(job_pid_, SIGTERM);
    ::kill(job_pid_, SIGCONT);  // a stopped job could not obey
    return;
  }
  if (kill_at_ns_ == 0 || now < kill_at_ns_) return;
  std::vector<pid_t> spared = ignored_children_;
  spared.push_back(monitor_.pid());  // including processes that the recorder started
  kill_descendants(spared);
  kill_at_ns_ = limit_at_ns_ = now + kNsPerSecond;
}

void Supervisor::pump_output() {
  for (OutputChannel& channel : output_.channels) {
    if (channel.is_terminal()) channel.set_muted(is_covered());
    pollfd want = channel.poll_request(*memory_);
    if (want.fd < 0 || ::poll(&want, 1, 0) <= 0) continue;
    if (channel.is_terminal()) status_.wipe();
    const uint32_t closed = memory_->closed_channels;
    channel.pump(*memory_, log_write_fd_);
    if (memory_->closed_channels != closed) monitor_.wake();
  }
}

void Supervisor::drain_output(int patience_ms) {
  for (OutputChannel& channel : output_.channels) {
    if (channel.is_terminal()) {
      status_.wipe();
      channel.set_muted(is_covered());
    }
    channel.drain(*memory_, log_write_fd_, patience_ms);
  }
}

void Supervisor::note_unlogged_output() {
  for (const OutputChannel& channel : output_.channels) channel.note_unlogged(*memory_);
}

bool Supervisor::output_is_open() const {
  return std::any_of(output_.channels.begin(), output_.channels.end(),
                     [](const OutputChannel& channel) { return !channel.is_closed(); });
}

bool Supervisor::at_line_start() const {
  return std::all_of(output_.channels.begin(), output_.channels.end(),
                     [](const OutputChannel& c) { return !c.is_terminal() || c.at_line_start(); });
}

void Supervisor::print_message(const std::string& text) {
  uncover();
  status_.print_message(STDERR_FILENO, text, at_line_start());
}

// While the job runs, a reader of our stderr that is slow (less, Ctrl-S) must not delay its output
// and signals: the message waits for a later turn. So it does while a screen covers the terminal.
void Supervisor::show_messages() {
  while (!is_covered() && has_message(*memory_, message_shown_) &&
         StatusLine::takes_message(STDERR_FILENO)) {
    if (const auto message = take_message(*memory_, message_shown_)) print_message(*message);
  }
}

}  // namespace trainscope
