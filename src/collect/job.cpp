// job: resources used by the whole process tree of the job.
//
// Source: /proc/PID/stat and /proc/PID/io of every process, kept open, and the scheduler's CPU
// clock of each (nanoseconds, whereas stat counts in 10 ms). Units: µs, pages, bytes, calls.
// Permission: own processes (io of another user's process is refused: then the I/O metrics are
// absent). Cost: 12 µs per process, 1 µs while it sleeps: if its CPU clock stands still, its values
// have not changed; only its resident pages can have been reclaimed, so it is still read once per
// second. Caveats: a process that ends is counted once: its parent's counters absorb its usage when
// they reap it, our subreaper's counters take orphans; usage that no process absorbed is kept from
// the last reading. User time is the CPU clock minus system time, each exact within 10 ms, their
// sum to the microsecond.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <map>
#include <string>

#include "base/clock.h"
#include "base/interrupted.h"
#include "collect/collect.h"
#include "collect/support/job_usage.h"
#include "kernel/proc_file.h"
#include "kernel/process_tree.h"

namespace trainscope::job_collector {

namespace {

constexpr MetricSpec kMetrics[] = {
    {"job.cpu.time", "s", Kind::counter, "mode",
     "CPU time of the job's processes, ended ones included", in_info(202)},
    {"job.memory.usage", "By", Kind::gauge, "",
     "Resident memory of the job's processes; shared pages count once per process", in_info(203)},
    {"job.io.bytes", "By", Kind::counter, "direction", "Bytes moved by read and write calls",
     in_info(206)},
    {"job.io.calls", "{call}", Kind::counter, "direction", "Read and write calls"},
    {"job.disk.io", "By", Kind::counter, "direction", "Bytes read from and written to storage",
     in_info(207)},
    {"job.process.count", "{process}", Kind::gauge, "", "Processes of the job", in_info(204)},
    {"job.thread.count", "{thread}", Kind::gauge, "", "Threads of the job", in_info(205)},
    {"job.paging.faults", "{fault}", Kind::counter, "type", "Page faults of the job",
     in_info(208).unless_idle().only("type", "major")},
};

constexpr const char* kShortage =
    "some processes of the job are counted late: the recorder has no free file descriptor; see "
    "`ulimit -Hn`";

// An ended process that its parent has not visibly absorbed yet.
struct Gone {
  pid_t pid = 0, parent = 0;
  Amounts last{};
  int age = 0;
};

// The parent that a process had when it ended.
struct Ended {
  pid_t parent = 0;
  int age = 0;
};

// In samples, of both.
constexpr int kMostAge = 3;

class JobSource : public Source {
 public:
  Opened open(const SourceContext& context) override {
    root_ = context.root;
    job_ = context.job;
    event_sink_ = context.event_sink;
    ns_per_tick_ = kNsPerSecond / ::sysconf(_SC_CLK_TCK);
    page_bytes_ = ::sysconf(_SC_PAGESIZE);
    tree_.open(root_, job_, ProcessTree::Search::own);
    totals_ = job_ == nullptr ? nullptr : job_->usage;
    recall();
    Opened opened;
    has_io_ = exists(root_ + "/proc/self/io");
    const Scale micro{1, 1'000'000};
    opened.columns = {{"job.cpu.time", {{"mode", "user"}}, micro},
                      {"job.cpu.time", {{"mode", "system"}}, micro},
                      {"job.memory.usage", {}, {page_bytes_, 1}},
                      {"job.process.count", {}, {}},
                      {"job.thread.count", {}, {}},
                      {"job.paging.faults", {{"type", "major"}}, {}},
                      {"job.paging.faults", {{"type", "minor"}}, {}}};
    for (const std::string_view metric : {"job.io.bytes", "job.io.calls", "job.disk.io"}) {
      if (!has_io_) {
        opened.missing.push_back({metric, "this kernel does not count the I/O of processes",
                                  "a kernel with CONFIG_TASK_IO_ACCOUNTING"});
        continue;
      }
      opened.columns.push_back({metric, {{"direction", "read"}}, {}});
      opened.columns.push_back({metric, {{"direction", "write"}}, {}});
    }
    return opened;
  }

  Sampled sample(std::span<int64_t> values) override {
    // Before the processes: those in the reaper's counters are no longer among them.
    Amounts sum = reaped();
    now_ns_ = monotonic_ns();
    take_new();
    int64_t pages = 0, threads = 0, count = 0;
    bool io_complete = true;
    // Parents before children: a child that is absorbed in between is missed once, never counted
    // twice.
    for (JobProcess& process : processes_) {
      if (!read(process)) continue;
      if (process.stat.state == 'Z' || process.stat.state == 'X') continue;
      pages += process.stat.resident_pages;
      threads += process.stat.threads;
      ++count;
      io_complete = io_complete && process.io_readable;
    }
    settle();
    tell_others();
    for (const JobProcess& process : processes_) {
      if (process.counted) add_to(sum, process.now);
    }
    for (const Gone& gone : gone_) add_to(sum, gone.last);
    add_to(sum, lost_);
    for (size_t i = 0; i < kAmounts; ++i) total_[i] = std::max(total_[i], sum[i]);
    // For an attached job only usage from now on is counted.
    if (starts_late_ && count > 0) base_ = total_;
    starts_late_ = starts_late_ && count == 0;
    remember();
    fill(values, pages, threads, count, io_complete);
    return Sampled::ok;
  }

  Sampled sample_last(std::span<int64_t> values) override {
    const Sampled sampled = sample(values);
    if (end_is_lost_) std::fill(values.begin(), values.end(), kAbsent);
    return sampled;
  }

 private:
  Amounts reaped() const {
    Amounts sum{};
    if (job_ == nullptr || job_->reaped == nullptr) return sum;
    const Reaped& r = *job_->reaped;
    sum[kUser] = r.user_ns;
    sum[kSystem] = r.system_ns;
    sum[kReadChars] = r.read_chars;
    sum[kWriteChars] = r.write_chars;
    sum[kReadCalls] = r.read_calls;
    sum[kWriteCalls] = r.write_calls;
    sum[kReadBytes] = r.read_bytes;
    sum[kWriteBytes] = r.write_bytes;
    sum[kMajor] = r.major_faults;
    sum[kMinor] = r.minor_faults;
    return sum;
  }

  // State of the previous recorder.
  void recall() {
    starts_late_ = tree_.reaper() == 0 && (totals_ == nullptr || totals_->has_base == 0);
    for (size_t i = 0; totals_ != nullptr && i < kAmounts; ++i) {
      total_[i] = totals_->total[i];
      lost_[i] = totals_->ended[i];
      base_[i] = totals_->base[i];
    }
  }

  void remember() const {
    for (size_t i = 0; totals_ != nullptr && i < kAmounts; ++i) {
      totals_->total[i] = total_[i];
      totals_->ended[i] = lost_[i];
      totals_->base[i] = base_[i];
    }
    if (totals_ != nullptr) totals_->has_base = starts_late_ ? 0 : 1;
  }

  void take_new() {
    for (const pid_t pid : tree_.find_new()) {
      auto stat = open_file(fmt::format("{}/proc/{}/stat", root_, pid), O_RDONLY);
      auto io = open_file(fmt::format("{}/proc/{}/io", root_, pid), O_RDONLY);
      if (is_out_of_descriptors(stat) || is_out_of_descriptors(io)) {
        tree_.postpone(pid);
        continue;
      }
      if (!stat) {
        tree_.remove(pid);
        continue;
      }
      ended_.erase(pid);  // the process that had this pid before
      JobProcess& process = processes_.emplace_back();
      process.pid = pid;
      process.stat_fd = std::move(*stat);
      if (io) process.io_fd = std::move(*io);
    }
    if (!tree_.lacks_descriptors() || std::exchange(reported_shortage_, true)) return;
    if (event_sink_) event_sink_("job", kShortage);
  }

  // The sources that look for the job's processes less often.
  void tell_others() const {
    if (job_ == nullptr || job_->roster == nullptr || tree_.lacks_descriptors()) return;
    JobRoster::Snapshot now{{}, tree_.seen_pid(), now_ns_};
    for (const JobProcess& process : processes_) {
      if (process.has_stat) now.members.push_back({process.pid, process.stat.start_ticks});
    }
    job_->roster->put(std::move(now));
  }

  // Empty if it cannot be read; then errno is ESRCH if the process has ended.
  std::string_view read_fd(const UniqueFd& fd) {
    if (!fd) return {};
    const ssize_t n =
        retry_interrupted([&] { return ::pread(fd.get(), buffer_.data(), buffer_.size(), 0); });
    if (n == 0) errno = ESRCH;
    return n <= 0 ? std::string_view{} : std::string_view(buffer_.data(), static_cast<size_t>(n));
  }

  // Its current values; the last ones if it cannot be read now. False if there are none.
  bool read(JobProcess& process) {
    process.before_that = process.before;
    process.before = process.now;
    process.child_faults_before_that = process.child_faults_before;
    process.child_faults_before = process.child_faults;
    process.claimed_before = std::exchange(process.claimed, {});
    // Before the files: later work moves the clock for the next sample.
    const int64_t cpu_ns = root_.empty() ? process_cpu_ns(process.pid) : -1;
    const bool slept = cpu_ns >= 0 && cpu_ns == process.cpu_ns;
    if (slept && !some_ended_ && now_ns_ - process.read_ns < kNsPerSecond) return true;
    process.cpu_ns = cpu_ns;
    process.read_ns = now_ns_;
    const std::string_view text = read_fd(process.stat_fd);
    ProcessStat stat;
    if (!parse_stat(text, stat)) {
      // Nothing but its end removes it: it would not be found again, because its pid is not new.
      process.alive = !text.empty() || errno != ESRCH;
      process.cpu_ns = -1;  // the next tick reads it
      return process.alive && process.has_stat;
    }
    process.stat = stat;
    process.has_stat = true;
    const bool ended = stat.state == 'Z' || stat.state == 'X';
    process.counted = !(ended && tree_.reaper() != 0 && stat.parent == tree_.reaper());
    const int64_t system_ns = stat.system_ticks * ns_per_tick_;
    const int64_t user_ns = cpu_ns < 0 ? stat.user_ticks * ns_per_tick_ : cpu_ns - system_ns;
    process.own_user_ns = std::max(process.own_user_ns, user_ns);
    process.now[kUser] = process.own_user_ns + stat.child_user_ticks * ns_per_tick_;
    process.now[kSystem] = system_ns + stat.child_system_ticks * ns_per_tick_;
    process.now[kMajor] = stat.major_faults + stat.child_major_faults;
    process.now[kMinor] = stat.minor_faults + stat.child_minor_faults;
    process.child_faults = stat.child_minor_faults;
    read_io(process);
    return true;
  }

  // rchar: N, wchar: N, syscr: N, syscw: N, read_bytes: N, write_bytes: N, in this order
  // since 2.6.20.
  void read_io(JobProcess& process) {
    Scanner scan(read_fd(process.io_fd));
    process.io_readable = !scan.done();
    for (size_t i = kFirstIo; i <= kLastIo && !scan.done(); ++i) {
      scan.skip_word();
      int64_t value = 0;
      if (scan.number(value)) process.now[i] = value;
      scan.next_line();
    }
  }

  // Removes ended processes from the list and finds out which process absorbed them.
  void settle() {
    some_ended_ = false;
    for (const JobProcess& process : processes_) {
      if (process.alive) continue;
      some_ended_ = true;
      end_is_lost_ = end_is_lost_ || tree_.is_attached_first(process.pid);
      ended_[process.pid] = {process.stat.parent, 0};
      if (process.counted) gone_.push_back({process.pid, process.stat.parent, process.now, 0});
      tree_.remove(process.pid);
    }
    std::erase_if(processes_, [](const JobProcess& process) { return !process.alive; });
    std::erase_if(gone_, [this](Gone& gone) { return is_settled(gone); });
    // All others have been read since and have another parent.
    for (auto& [pid, ended] : ended_) ++ended.age;
    std::erase_if(ended_, [](const auto& entry) { return entry.second.age > kMostAge; });
  }

  bool is_settled(Gone& gone) {
    // The last parent that we saw may have ended first and left an orphan to our reaper.
    if (job_ != nullptr && job_->reaped != nullptr && job_->reaped->has(gone.pid)) return true;
    // A parent that has ended as well was absorbed by its own parent, with everything it had.
    // Reused pids could lead around in a circle.
    for (size_t hops = 0; hops < ended_.size(); ++hops) {
      const auto it = ended_.find(gone.parent);
      if (it == ended_.end()) break;
      gone.parent = it->second.parent;
    }
    if (tree_.reaper() != 0 && gone.parent == tree_.reaper()) return true;
    for (JobProcess& parent : processes_) {
      if (parent.pid != gone.parent) continue;
      if (parent.absorb(gone.last)) return true;
      if (++gone.age < kMostAge) return false;
      break;
    }
    add_to(lost_, gone.last);
    return true;
  }

  void fill(std::span<int64_t> values, int64_t pages, int64_t threads, int64_t count,
            bool io_complete) const {
    const auto amount = [this](size_t i) { return total_[i] - base_[i]; };
    values[0] = amount(kUser) / 1000;
    values[1] = amount(kSystem) / 1000;
    // Before its first instruction and after its last the job does not exist, so these are not 0.
    // A process that is ending has given its memory back before it is a zombie.
    values[2] = pages > 0 ? pages : kAbsent;
    values[3] = count > 0 ? count : kAbsent;
    values[4] = count > 0 ? threads : kAbsent;
    values[5] = amount(kMajor);
    values[6] = amount(kMinor);
    for (size_t i = 7; i < values.size(); ++i) {
      values[i] = io_complete ? amount(kFirstIo + i - 7) : kAbsent;
    }
  }

  std::string root_;
  const JobLink* job_ = nullptr;
  JobTotals* totals_ = nullptr;
  int64_t ns_per_tick_ = 10'000'000;
  int64_t page_bytes_ = 4096;
  bool has_io_ = true;
  ProcessTree tree_;
  std::vector<JobProcess> processes_;
  std::vector<Gone> gone_;
  std::map<pid_t, Ended> ended_;
  Amounts lost_{}, total_{}, base_{};
  bool starts_late_ = false;
  bool some_ended_ = false;   // then other processes may have another parent now
  bool end_is_lost_ = false;  // of an attached job that its parent reaped before we read it
  bool reported_shortage_ = false;
  int64_t now_ns_ = 0;
  std::function<void(const std::string&, const std::string&)> event_sink_;
  std::array<char, 4096> buffer_{};
};

}  // namespace

extern const Collector entry;
const Collector entry = {
    .name = "job",
    .summary = "CPU, memory and I/O of the job's whole process tree",
    .needs = "/proc/PID/stat and /proc/PID/io of the job's processes",
    .scope = Scope::job,
    .pace = Pace::tick,
    .metrics = kMetrics,
    .make = [] { return std::unique_ptr<Source>(std::make_unique<JobSource>()); },
};

}  // namespace trainscope::job_collector
