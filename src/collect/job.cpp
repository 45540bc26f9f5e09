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
#include <map>
#include <string>

#include "base/clock.h"
#include "collect/collect.h"
#include "kernel/proc_file.h"
#include "kernel/process_tree.h"

namespace trainscope {

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

// The summed values, in the order of the counters' columns.
enum Amount : size_t {
  kUser,  // ns
  kSystem,
  kReadChars,
  kWriteChars,
  kReadCalls,
  kWriteCalls,
  kReadBytes,
  kWriteBytes,
  kMajor,
  kMinor,
  kAmounts
};
using Amounts = std::array<int64_t, kAmounts>;
static_assert(kAmounts <= JobTotals::kNumbers);
constexpr size_t kFirstIo = kReadChars, kLastIo = kWriteBytes;
// stat shows CPU time cut to ticks, once for user and once for system time.
constexpr int64_t kTickTolerance = 20'000'000;

void add_to(Amounts& sum, const Amounts& more) {
  for (size_t i = 0; i < kAmounts; ++i) sum[i] += more[i];
}

struct Process {
  pid_t pid = 0;
  UniqueFd stat_fd, io_fd;
  bool alive = true;
  bool counted = true;  // false for an orphan that waits for our reaper: its account has it
  bool io_readable = true;
  ProcessStat stat;
  int64_t cpu_ns = -1;
  int64_t read_ns = 0;  // when its files were read last
  int64_t own_user_ns = 0;
  Amounts now{}, before{}, before_that{};
  Amounts claimed{}, claimed_before{};
  // Page faults of children that it has reaped.
  int64_t child_faults = 0, child_faults_before = 0, child_faults_before_that = 0;

  int64_t grown(size_t i) const {
    return i == kMinor ? child_faults - child_faults_before_that : now[i] - before_that[i];
  }
};

// An ended process that its parent has not visibly absorbed yet.
struct Gone {
  pid_t pid = 0, parent = 0;
  Amounts last{};
  int age = 0;
};

class JobSource : public Source {
 public:
  Opened open(const SourceContext& context) override {
    root_ = context.root;
    job_ = context.job;
    ns_per_tick_ = kNsPerSecond / ::sysconf(_SC_CLK_TCK);
    page_bytes_ = ::sysconf(_SC_PAGESIZE);
    tree_.open(root_, job_);
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
    for (Process& process : processes_) {
      if (!read(process)) continue;
      if (process.stat.state == 'Z' || process.stat.state == 'X') continue;
      pages += process.stat.resident_pages;
      threads += process.stat.threads;
      ++count;
      io_complete = io_complete && process.io_readable;
    }
    settle();
    for (const Process& process : processes_) {
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
      Process process;
      process.pid = pid;
      auto stat = open_file(fmt::format("{}/proc/{}/stat", root_, pid), O_RDONLY);
      if (!stat) {
        tree_.remove(pid);
        continue;
      }
      process.stat_fd = std::move(*stat);
      if (auto io = open_file(fmt::format("{}/proc/{}/io", root_, pid), O_RDONLY)) {
        process.io_fd = std::move(*io);
      }
      processes_.push_back(std::move(process));
    }
  }

  std::string_view read_fd(const UniqueFd& fd) {
    if (!fd) return {};
    const ssize_t n = ::pread(fd.get(), buffer_.data(), buffer_.size(), 0);
    return n <= 0 ? std::string_view{} : std::string_view(buffer_.data(), static_cast<size_t>(n));
  }

  // Its current values; false if it has ended.
  bool read(Process& process) {
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
    if (text.empty() || !parse_stat(text, process.stat)) {
      process.alive = false;
      return false;
    }
    const ProcessStat& stat = process.stat;
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
  void read_io(Process& process) {
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
    for (const Process& process : processes_) {
      if (process.alive) continue;
      some_ended_ = true;
      end_is_lost_ = end_is_lost_ || tree_.is_attached_first(process.pid);
      parents_[process.pid] = process.stat.parent;
      if (process.counted) gone_.push_back({process.pid, process.stat.parent, process.now, 0});
      tree_.remove(process.pid);
    }
    std::erase_if(processes_, [](const Process& process) { return !process.alive; });
    std::erase_if(gone_, [this](Gone& gone) { return is_settled(gone); });
    if (gone_.empty()) parents_.clear();
  }

  bool is_settled(Gone& gone) {
    // The last parent that we saw may have ended first and left an orphan to our reaper.
    if (job_ != nullptr && job_->reaped != nullptr && job_->reaped->has(gone.pid)) return true;
    // A parent that has ended as well was absorbed by its own parent, with everything it had.
    for (auto it = parents_.find(gone.parent); it != parents_.end();
         it = parents_.find(gone.parent)) {
      gone.parent = it->second;
    }
    if (tree_.reaper() != 0 && gone.parent == tree_.reaper()) return true;
    for (Process& parent : processes_) {
      if (parent.pid != gone.parent) continue;
      if (absorb(parent, gone.last)) return true;
      if (++gone.age < 3) return false;
      break;
    }
    add_to(lost_, gone.last);
    return true;
  }

  // Whether the parent's counters grew by at least the usage of the process, beyond that of other
  // children. The parent's own work cannot be taken for it: every process has page faults, and
  // those of children are counted apart.
  static bool absorb(Process& parent, const Amounts& last) {
    for (size_t i = 0; i < kAmounts; ++i) {
      const int64_t grown = parent.grown(i) - parent.claimed[i] - parent.claimed_before[i];
      const bool is_time = i == kUser || i == kSystem;
      if (grown + (is_time ? kTickTolerance : 0) < last[i]) return false;
    }
    // Of each, so much time may never show: three children of 8 ms are none of 10 ms.
    Amounts shown = last;
    for (const size_t i : {kUser, kSystem})
      shown[i] = std::max<int64_t>(0, last[i] - kTickTolerance);
    add_to(parent.claimed, shown);
    return true;
  }

  void fill(std::span<int64_t> values, int64_t pages, int64_t threads, int64_t count,
            bool io_complete) const {
    const auto amount = [this](size_t i) { return total_[i] - base_[i]; };
    values[0] = amount(kUser) / 1000;
    values[1] = amount(kSystem) / 1000;
    // Before its first instruction and after its last the job does not exist, so these are not 0.
    values[2] = count > 0 ? pages : kAbsent;
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
  std::vector<Process> processes_;
  std::vector<Gone> gone_;
  std::map<pid_t, pid_t> parents_;  // of ended processes
  Amounts lost_{}, total_{}, base_{};
  bool starts_late_ = false;
  bool some_ended_ = false;   // then other processes may have another parent now
  bool end_is_lost_ = false;  // of an attached job that its parent reaped before we read it
  int64_t now_ns_ = 0;
  std::array<char, 4096> buffer_{};
};

}  // namespace

extern const Collector job_collector;
const Collector job_collector = {
    .name = "job",
    .summary = "CPU, memory and I/O of the job's whole process tree",
    .needs = "/proc/PID/stat and /proc/PID/io of the job's processes",
    .scope = Scope::job,
    .pace = Pace::tick,
    .metrics = kMetrics,
    .make = [] { return std::unique_ptr<Source>(std::make_unique<JobSource>()); },
};

}  // namespace trainscope
