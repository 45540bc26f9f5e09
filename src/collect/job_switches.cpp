// job_switches: context switches of the job's threads.
//
// Source: /proc/PID/task/TID/status of every thread. Units: switches. Permission: none. Cost: 20 µs
// per thread, hence at most 0.05 % of a core: every five seconds on its own thread, more rarely for
// jobs with more than a hundred threads; a process whose CPU clock stands still is not read.
// Caveats: what a thread did after its last reading is lost when it ends inside a living process; a
// process that our subreaper reaps is exact. What an attached process did after its last reading is
// not known once its parent has reaped it: then there is no closing value. Voluntary: it waited;
// involuntary: it was taken off.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/text.h"
#include "collect/collect.h"
#include "kernel/proc_file.h"
#include "kernel/process_tree.h"

namespace trainscope::job_switches_collector {

namespace {

constexpr MetricSpec kMetrics[] = {
    {"job.context_switches", "{switch}", Kind::counter, "type",
     "Context switches of the job's threads: voluntary (it waited), involuntary (it was taken "
     "off)"},
};

struct Switches {
  int64_t voluntary = 0, involuntary = 0;
};

void add_to(Switches& sum, const Switches& more) {
  sum.voluntary += more.voluntary;
  sum.involuntary += more.involuntary;
}

bool parse_switches(std::string_view text, Switches& switches) {
  // The two lines are the last ones, and "nonvoluntary…" contains the other's name.
  const size_t at = text.rfind("\nvoluntary_ctxt_switches:");
  if (at == std::string_view::npos) return false;
  Scanner scan(text.substr(at + 25));
  if (!scan.number(switches.voluntary)) return false;
  scan.next_line();
  return scan.take("nonvoluntary_ctxt_switches:") && scan.number(switches.involuntary);
}

// State and parent, from the status of a process's first thread.
bool parse_process(std::string_view text, ProcessStat& stat) {
  const size_t state = text.find("\nState:\t"), parent = text.find("\nPPid:\t");
  if (state == std::string_view::npos || parent == std::string_view::npos) return false;
  int64_t pid = 0;
  if (!Scanner(text.substr(parent + 7)).number(pid)) return false;
  stat.state = text[state + 8];
  stat.parent = static_cast<pid_t>(pid);
  return true;
}

class JobSwitchesSource : public Source {
 public:
  Opened open(const SourceContext& context) override {
    root_ = context.root;
    job_ = context.job;
    tree_.open(root_, job_);
    totals_ = job_ == nullptr ? nullptr : job_->switches;
    recall();
    Opened opened;
    Switches probe;
    const auto text = read_file(root_ + "/proc/self/status");
    if (!text || !parse_switches(*text, probe)) {
      opened.missing.push_back({"job.context_switches", "not reported by this kernel", ""});
      return opened;
    }
    opened.columns = {{"job.context_switches", {{"type", "voluntary"}}, {}},
                      {"job.context_switches", {{"type", "involuntary"}}, {}}};
    return opened;
  }

  Sampled sample(std::span<int64_t> values) override {
    if (values.empty()) return Sampled::ok;
    for (auto& [pid, process] : processes_) process.ended = !read(pid, process);
    for (const auto& [pid, process] : processes_) {
      if (!process.ended) continue;
      end_is_lost_ = end_is_lost_ || tree_.is_attached_first(pid);
      tree_.remove(pid);
      add_to(ended_, process.sum());
    }
    std::erase_if(processes_, [](const auto& entry) { return entry.second.ended; });
    take_new();
    Switches total = known_of_ended();
    for (const auto& [pid, process] : processes_) add_to(total, process.sum());
    highest_.voluntary = std::max(highest_.voluntary, total.voluntary);
    highest_.involuntary = std::max(highest_.involuntary, total.involuntary);
    // For an attached job only switches from now on are counted.
    if (starts_late_ && !processes_.empty()) base_ = highest_;
    starts_late_ = starts_late_ && processes_.empty();
    remember();
    values[0] = highest_.voluntary - base_.voluntary;
    values[1] = highest_.involuntary - base_.involuntary;
    return Sampled::ok;
  }

  Sampled sample_last(std::span<int64_t> values) override {
    const Sampled sampled = sample(values);
    if (end_is_lost_) std::fill(values.begin(), values.end(), kAbsent);
    return sampled;
  }

 private:
  struct Process {
    bool ended = false;
    int64_t start_ticks = -1;  // pids are given out again
    int64_t cpu_ns = -1;
    std::map<std::string, Switches> threads;  // by tid
    Switches of_ended_threads;                // their last values
    bool has_values() const { return start_ticks >= 0; }
    Switches sum() const {
      Switches all = of_ended_threads;
      for (const auto& [tid, switches] : threads) add_to(all, switches);
      return all;
    }
  };

  // The reaper's counters include a process with all the children that it waited for, and are
  // exact; the last readings also include children that were not waited for. They overlap, so they
  // are not added up.
  Switches known_of_ended() const {
    if (job_ == nullptr || job_->reaped == nullptr) return ended_;
    return {std::max<int64_t>(ended_.voluntary, job_->reaped->voluntary_switches),
            std::max<int64_t>(ended_.involuntary, job_->reaped->involuntary_switches)};
  }

  // After those that have ended were taken out: a new one may have the pid of one of them.
  void take_new() {
    for (const pid_t pid : tree_.find_new()) {
      Process process;
      const bool exists = read(pid, process);
      if (exists && process.has_values()) {
        processes_[pid] = std::move(process);
      } else if (exists) {
        tree_.postpone(pid);
      } else {
        tree_.remove(pid);
      }
    }
  }

  // State of the previous recorder.
  void recall() {
    starts_late_ = tree_.reaper() == 0 && (totals_ == nullptr || totals_->has_base == 0);
    if (totals_ == nullptr) return;
    highest_ = {totals_->total[0], totals_->total[1]};
    ended_ = {totals_->ended[0], totals_->ended[1]};
    base_ = {totals_->base[0], totals_->base[1]};
  }

  void remember() const {
    if (totals_ == nullptr) return;
    totals_->total[0] = highest_.voluntary;
    totals_->total[1] = highest_.involuntary;
    totals_->ended[0] = ended_.voluntary;
    totals_->ended[1] = ended_.involuntary;
    totals_->base[0] = base_.voluntary;
    totals_->base[1] = base_.involuntary;
    totals_->has_base = starts_late_ ? 0 : 1;
  }

  // False if it has ended. What cannot be read for lack of a descriptor keeps its last values.
  bool read(pid_t pid, Process& process) const {
    const int64_t cpu_ns = root_.empty() ? process_cpu_ns(pid) : -1;
    if (cpu_ns >= 0 && cpu_ns == std::exchange(process.cpu_ns, cpu_ns)) return true;
    const std::string folder = fmt::format("{}/proc/{}/task", root_, pid);
    const std::string first = std::to_string(pid);
    ProcessStat stat;
    const Status known = read_stat(root_, pid, stat);
    const auto tids = list_folder(folder);
    const auto of_first = read_file(folder + "/" + first + "/status");
    if (is_out_of_descriptors(known) || is_out_of_descriptors(tids) ||
        is_out_of_descriptors(of_first)) {
      process.cpu_ns = -1;  // the next sample reads it
      return true;
    }
    if (!known || !tids || tids->empty() || !of_first) return false;
    if (process.start_ticks < 0) process.start_ticks = stat.start_ticks;
    if (process.start_ticks != stat.start_ticks || !parse_process(*of_first, stat)) return false;
    if ((stat.state == 'Z' || stat.state == 'X') && stat.parent == tree_.reaper()) return false;
    take_thread(process, first, *of_first);
    for (const std::string& tid : *tids) {
      if (tid == first) continue;
      if (const auto text = read_file(folder + "/" + tid + "/status")) {
        take_thread(process, tid, *text);
      }
    }
    drop_ended_threads(process, *tids);
    return true;
  }

  static void take_thread(Process& process, const std::string& tid, std::string_view status) {
    Switches now;
    if (!parse_switches(status, now)) return;
    Switches& known = process.threads[tid];
    const bool is_reused = now.voluntary < known.voluntary || now.involuntary < known.involuntary;
    if (is_reused) add_to(process.of_ended_threads, known);
    known = now;
  }

  // A job that starts threads all the time must not make us remember each of them.
  static void drop_ended_threads(Process& process, const std::vector<std::string>& tids) {
    std::erase_if(process.threads, [&](const auto& thread) {
      if (std::binary_search(tids.begin(), tids.end(), thread.first)) return false;
      add_to(process.of_ended_threads, thread.second);
      return true;
    });
  }

  std::string root_;
  const JobLink* job_ = nullptr;
  ProcessTree tree_;
  std::map<pid_t, Process> processes_;
  JobTotals* totals_ = nullptr;
  Switches ended_, highest_, base_;
  bool starts_late_ = false;
  bool end_is_lost_ = false;
};

}  // namespace

extern const Collector entry;
const Collector entry = {
    .name = "job_switches",
    .summary = "context switches of the job's threads",
    .needs = "/proc/PID/task/TID/status",
    .scope = Scope::job,
    .pace = Pace::thread,
    .period_ns = 5 * kNsPerSecond,
    .rest_factor = 2000,
    .counts_from_zero = true,
    .metrics = kMetrics,
    .make = [] { return std::unique_ptr<Source>(std::make_unique<JobSwitchesSource>()); },
};

}  // namespace trainscope::job_switches_collector
