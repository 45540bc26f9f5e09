// job_threads: what the threads that matter do when they do not compute.
//
// Source: /proc/PID/schedstat, /proc/PID/stat and /proc/PID/wchan of the main process and of up to
// 16 data-loader workers, /proc/PID/task/TID/schedstat of the main process's other threads, all
// kept open. Units: ns, stored as µs; the block-I/O delay in clock ticks. Permission: none. Cost: 8
// µs per process with a role and 1.5 µs per thread, once per second on its own thread, at distances
// of 0.7 to 1.3 s; more rarely if that is more than 0.2 % of a core. Roles: `main` is the first
// thread of the process with the most CPU time that is not a worker; it changes only for one with
// clearly more. `worker0`, … are the first threads of data-loader workers, `pin` is PyTorch's
// thread that pins memory, `busiest` the other thread of the main process that ran most since the
// last reading. Caveats: blocked is what remains of the elapsed time, exact to a tick of the
// kernel; its division into disk and other is sampled. A process that is not the job's first one is
// known up to its last reading. A process with more than 64 threads has no `busiest`, no `pin`.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "collect/collect.h"
#include "collect/support/missing.h"
#include "collect/support/threads/block_delay.h"
#include "collect/support/threads/role_candidates.h"
#include "collect/support/threads/role_time.h"
#include "collect/support/threads/thread_files.h"

namespace trainscope::job_threads_collector {

namespace {

constexpr MetricSpec kMetrics[] = {
    {"job.thread.time", "s", Kind::counter, "role, state",
     "Time of a thread with this role: running, runnable (it waits for a CPU), blocked (it waits "
     "for anything else)"},
    {"job.thread.blocked", "s", Kind::counter, "on, role",
     "Blocked time by the states in which the thread was seen: disk (uninterruptible, or waiting "
     "for a FUSE file system), other"},
    {"job.thread.delay", "s", Kind::counter, "role",
     "Time in which the thread waited for block I/O"},
};

constexpr const char* kHiddenWaits =
    "/proc/PID/wchan of the job's processes cannot be read: waits for FUSE count as other";

// Positions in the table of roles.
constexpr size_t kMain = 0, kBusiest = 1, kPin = 2, kFirstWorker = 3, kMostWorkers = 16,
                 kRoles = kFirstWorker + kMostWorkers;
using RoleTable = std::array<RoleTime, kRoles>;
static_assert(sizeof(RoleTable) <= JobThreadState::kBytes);
static_assert(std::is_trivially_copyable_v<RoleTable>);

// The main role moves to a process with this much more CPU time than its holder.
constexpr int64_t kClearlyMoreNs = kNsPerSecond / 5;
constexpr bool is_clearly_more(int64_t cpu_ns, int64_t than_ns) {
  return cpu_ns > than_ns + than_ns / 4 + kClearlyMoreNs;
}

std::string role_name(size_t role) {
  constexpr std::array<const char*, kFirstWorker> kNames = {"main", "busiest", "pin"};
  return role < kFirstWorker ? kNames[role] : fmt::format("worker{}", role - kFirstWorker);
}

// Roles of processes; the other roles are those of threads of the main process.
constexpr bool is_process_role(size_t role) { return role == kMain || role >= kFirstWorker; }

class JobThreadsSource : public Source {
 public:
  Opened open(const SourceContext& context) override {
    if (!is_open_) open_first(context);
    is_open_ = true;
    ThreadTimes probe;
    const auto text = read_file(root_ + "/proc/self/schedstat");
    if (!text || !parse_schedstat(*text, probe)) {
      return all_missing(kMetrics, "this kernel does not measure the waiting time of threads",
                         "a kernel with CONFIG_SCHED_INFO");
    }
    Opened opened;
    for (size_t role = 0; role < kRoles; ++role) {
      if (role != kMain && roles_[role].was_held == 0) continue;
      is_first_row_[role] = is_first_row_[role] || !has_columns_[role];
      has_columns_[role] = true;
      add_columns(role, opened);
    }
    // What a role did before its first row is in the second one: increases are complete.
    if (is_continued_) is_first_row_.fill(false);
    is_continued_ = false;
    if (missing_delay_) opened.missing.push_back(*missing_delay_);
    return opened;
  }

  Sampled sample(std::span<int64_t> values) override {
    if (values.empty()) return Sampled::ok;
    read_all(false);
    for (size_t role = 0; role < kRoles; ++role) {
      if (roles_[role].was_held != 0 && !has_columns_[role]) return Sampled::layout_changed;
    }
    fill(values);
    return Sampled::ok;
  }

  Sampled sample_last(std::span<int64_t> values) override {
    if (values.empty()) return Sampled::ok;
    read_all(true);
    fill(values);
    return Sampled::ok;
  }

 private:
  void open_first(const SourceContext& context) {
    root_ = context.root;
    job_ = context.job;
    now_ns_ = context.now_ns;
    event_sink_ = context.event_sink;
    ticks_per_second_ = ::sysconf(_SC_CLK_TCK);
    missing_delay_ = missing_block_delay(root_, "job.thread.delay");
    candidates_.open(root_, job_);
    recall();
  }

  void add_columns(size_t role, Opened& opened) const {
    const std::string name = role_name(role);
    const Scale micro{1, 1'000'000};
    for (const char* state : {"running", "runnable", "blocked"}) {
      opened.columns.push_back({"job.thread.time", {{"role", name}, {"state", state}}, micro});
    }
    if (!is_process_role(role)) return;
    for (const char* on : {"disk", "other"}) {
      opened.columns.push_back({"job.thread.blocked", {{"on", on}, {"role", name}}, micro});
    }
    if (missing_delay_) return;
    opened.columns.push_back({"job.thread.delay", {{"role", name}}, {1, ticks_per_second_}});
  }

  void fill(std::span<int64_t> values) {
    size_t at = 0;
    const auto put = [&](size_t role, int64_t value) {
      if (at == values.size()) return;
      const bool is_absent = is_unknown_[role] && !is_behind_[role];
      values[at++] = is_first_row_[role] ? 0 : is_absent ? kAbsent : value;
    };
    for (size_t role = 0; role < kRoles; ++role) {
      if (!has_columns_[role]) continue;
      const RoleTime& time = roles_[role];
      for (const int64_t ns : {time.running_ns, time.runnable_ns, time.blocked_ns}) {
        put(role, ns / 1000);
      }
      if (is_process_role(role)) {
        for (const int64_t ns : {time.disk_ns, time.other_ns}) put(role, ns / 1000);
        if (!missing_delay_) put(role, time.delay_ticks);
      }
      const bool has_past = time.running_ns + time.runnable_ns + time.blocked_ns > 0;
      is_behind_[role] = std::exchange(is_first_row_[role], false) && has_past;
    }
  }

  // State of the previous recorder.
  void recall() {
    if (job_ == nullptr || job_->threads == nullptr || job_->threads->written == 0) return;
    std::memcpy(roles_.data(), job_->threads->last(), sizeof roles_);
    is_continued_ = true;
    must_reattach_ = true;
  }

  void remember() const {
    if (job_ == nullptr || job_->threads == nullptr) return;
    std::memcpy(job_->threads->next(), roles_.data(), sizeof roles_);
    ++job_->threads->written;
  }

  void read_all(bool is_last) {
    is_unknown_.fill(false);
    for (size_t role = 0; role < kRoles; ++role) {
      if (files_[role].is_open()) read_role(role, is_last);
    }
    read_other_threads(is_last);
    if (is_last) count_unseen_job();
    candidates_.refresh(now_ns_());
    if (must_reattach_) reattach();
    give_worker_roles();
    elect_main();
    remember();
  }

  void read_role(size_t role, bool is_last) {
    RoleTime& time = roles_[role];
    ThreadReading reading;
    reading.now_ns = now_ns_();
    reading.delay_ticks = time.last.delay_ticks;
    ProcessStat stat;
    const ThreadState state = files_[role].read(stat, reading, role != kMain);
    if (state == ThreadState::unreadable) {
      is_unknown_[role] = true;
    } else if (state == ThreadState::ended) {
      const JobFirstEnd* end = first_end();
      const bool is_known = end != nullptr && end->pid == time.pid;
      if (is_known) time.advance(last_reading(*end));
      is_unknown_[role] = is_last && !is_known;  // its time since the last reading is lost
      release(role);
    } else if (stat.state == 'Z' || stat.state == 'X') {
      reading.now_ns = end_ns(time, reading);
      time.advance(reading);
      release(role);
    } else {
      time.advance(reading);
      time.split(files_[role].wait_state(stat.state));
      if (files_[role].hides_waits() && !std::exchange(noted_waits_, true)) note(kHiddenWaits);
      if (role == kMain) main_threads_ = stat.threads;
    }
  }

  // Of a process that has ended and was not waited for. When it ended is not known, so nothing
  // counts as blocked since then, but for the job's first process: it is waited for at once.
  int64_t end_ns(const RoleTime& time, const ThreadReading& reading) const {
    if (job_ != nullptr && time.pid == job_->first_pid) return reading.now_ns;
    const ThreadTimes& before = time.last.times;
    return time.last.now_ns + (reading.times.run_ns - before.run_ns) +
           (reading.times.wait_ns - before.wait_ns);
  }

  const JobFirstEnd* first_end() const {
    const JobFirstEnd* end = job_ == nullptr ? nullptr : job_->first_end;
    return end == nullptr || end->ended_ns == 0 ? nullptr : end;
  }

  static ThreadReading last_reading(const JobFirstEnd& end) {
    return {end.ended_ns, {end.run_ns, end.wait_ns}, 0};
  }

  // A job that ended before its second sample.
  void count_unseen_job() {
    const JobFirstEnd* end = first_end();
    if (roles_[kMain].was_held != 0 || end == nullptr) return;
    roles_[kMain].begin({candidates_.birth(end->start_ticks, end->ended_ns), {}, 0});
    roles_[kMain].advance(last_reading(*end));
  }

  void release(size_t role) {
    files_[role].close();
    roles_[role].pid = 0;
  }

  void read_other_threads(bool is_last) {
    const bool has_main = files_[kMain].is_open();
    others_.follow(root_, has_main ? static_cast<pid_t>(roles_[kMain].pid) : 0);
    if (!has_main) {
      is_unknown_[kBusiest] = is_unknown_[kPin] = is_last;
      return;
    }
    if (is_unknown_[kMain]) return;
    others_.read(main_threads_, now_ns_);
    advance_thread(kBusiest, others_.busiest());
    advance_thread(kPin, others_.pin());
    if (!others_.are_too_many()) return;
    is_unknown_[kBusiest] = is_unknown_[kPin] = true;
    if (std::exchange(noted_threads_, true)) return;
    note(fmt::format(
        "the busiest thread is not recorded: the main process has {} threads, more than {}",
        main_threads_, OtherThreads::kMostThreads));
  }

  void advance_thread(size_t role, const OtherThreads::Thread* thread) {
    if (thread == nullptr) return;
    roles_[role].begin(thread->before);
    roles_[role].advance(thread->now);
  }

  void note(const std::string& text) const {
    if (event_sink_) event_sink_("job", text);
  }

  // After a restart of the recorder: the holders of the roles that are still there.
  void reattach() {
    must_reattach_ = false;
    for (size_t role = 0; role < kRoles; ++role) {
      RoleTime& time = roles_[role];
      RoleCandidate* holder =
          time.pid == 0 ? nullptr : candidates_.find(static_cast<pid_t>(time.pid));
      if (holder == nullptr || holder->start_ticks != time.start_ticks || !hold(role, *holder)) {
        time.pid = 0;
      } else {
        holder->is_worker = holder->looks_like_worker = role >= kFirstWorker;
      }
    }
  }

  // False if the process has ended or its files cannot be opened.
  bool hold(size_t role, const RoleCandidate& candidate) {
    FirstThread files;
    ProcessStat stat;
    ThreadReading reading;
    reading.now_ns = now_ns_();
    if (!files.open(root_, candidate.pid) || files.read(stat, reading) != ThreadState::alive ||
        stat.state == 'Z' || stat.start_ticks != candidate.start_ticks) {
      return false;
    }
    RoleTime& time = roles_[role];
    const bool is_same = time.pid == candidate.pid && time.start_ticks == candidate.start_ticks;
    const bool is_younger = !candidate.is_old && candidate.born_ns >= time.last.now_ns;
    if (is_same || is_younger) {
      if (!is_same) time.begin({candidate.born_ns, {}, 0});
      time.advance(reading);
      time.split(files.wait_state(stat.state));
    } else {
      time.begin(reading);
    }
    time.pid = candidate.pid;
    time.start_ticks = candidate.start_ticks;
    if (role == kMain) main_threads_ = stat.threads;
    files_[role] = std::move(files);
    return true;
  }

  bool has_role(pid_t pid) const {
    return std::any_of(roles_.begin(), roles_.end(),
                       [pid](const RoleTime& time) { return time.pid == pid; });
  }

  void give_worker_roles() {
    for (size_t role = 0; role < kRoles; ++role) {
      if (!files_[role].is_open()) continue;
      const RoleCandidate* holder = candidates_.find(static_cast<pid_t>(roles_[role].pid));
      if (holder != nullptr && holder->is_worker != (role >= kFirstWorker)) release(role);
    }
    for (const RoleCandidate& candidate : candidates_.all()) {
      if (!candidate.is_worker || has_role(candidate.pid)) continue;
      const auto begin = files_.begin() + kFirstWorker;
      const auto free = std::find_if(begin, files_.end(),
                                     [](const FirstThread& files) { return !files.is_open(); });
      if (free == files_.end()) {
        if (std::exchange(noted_workers_, true)) return;
        note(fmt::format("more than {} data-loader workers: the others are not recorded one by one",
                         kMostWorkers));
        return;
      }
      (void)hold(static_cast<size_t>(free - files_.begin()), candidate);
    }
  }

  void elect_main() {
    const RoleCandidate* most = nullptr;
    for (const RoleCandidate& candidate : candidates_.all()) {
      if (!candidate.may_be_main()) continue;
      if (most == nullptr || candidate.cpu_ns > most->cpu_ns) most = &candidate;
    }
    if (most == nullptr || most->pid == roles_[kMain].pid) return;
    if (files_[kMain].is_open()) {
      const RoleCandidate* holder = candidates_.find(static_cast<pid_t>(roles_[kMain].pid));
      if (holder == nullptr || !is_clearly_more(most->cpu_ns, holder->cpu_ns)) return;
    }
    const pid_t pid = most->pid;
    if (hold(kMain, *most)) {
      // Read again at the next sample: then there is a difference.
      others_.follow(root_, pid);
      others_.read(main_threads_, now_ns_);
      return;
    }
    ProcessStat stat;
    const Status known = read_stat(root_, pid, stat);
    // A zombie does not work any more; one that lacks a descriptor is tried again.
    if (known ? stat.state == 'Z' : has_ended(known.error())) candidates_.drop(pid);
  }

  std::string root_;
  const JobLink* job_ = nullptr;
  std::function<int64_t()> now_ns_;
  std::function<void(const std::string&, const std::string&)> event_sink_;
  int64_t ticks_per_second_ = 100;
  std::optional<Missing> missing_delay_;
  RoleCandidates candidates_;
  OtherThreads others_;
  RoleTable roles_{};
  std::array<FirstThread, kRoles> files_;  // open: the role has a holder
  std::array<bool, kRoles> has_columns_{}, is_first_row_{}, is_unknown_{};
  // The last row was the first one, and time before it is not in any row yet.
  std::array<bool, kRoles> is_behind_{};
  int64_t main_threads_ = 1;
  bool is_open_ = false, is_continued_ = false, must_reattach_ = false;
  bool noted_threads_ = false, noted_workers_ = false, noted_waits_ = false;
};

}  // namespace

extern const Collector entry;
const Collector entry = {
    .name = "job_threads",
    .summary = "running, waiting and blocked time of the main thread and of data-loader workers",
    .needs = "/proc/PID/schedstat and /proc/PID/stat of the job's processes",
    .scope = Scope::job,
    .pace = Pace::thread,
    .period_ns = kNsPerSecond,
    .rest_factor = 500,
    .counts_from_zero = true,
    .varies = true,
    .metrics = kMetrics,
    .make = [] { return std::unique_ptr<Source>(std::make_unique<JobThreadsSource>()); },
};

}  // namespace trainscope::job_threads_collector
