// job_pss: memory of the job, with shared pages divided among processes.
//
// Source: /proc/PID/smaps_rollup. Units: kB. Permission: own processes. Cost: the kernel walks
// every page table and holds the job's mmap lock: 7 to 16 ms for 1 GiB in small pages. Hence it is
// read every max(10 s, 500 times the duration of the last reading), on its own thread, and not
// while less than 1 % of the pages can have changed (by page faults and resident pages), but at
// least every 5 minutes. Caveats: kernels before 4.14 have no such file.
#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <set>
#include <string>

#include "base/clock.h"
#include "collect/collect.h"
#include "kernel/proc_file.h"
#include "kernel/process_tree.h"

namespace trainscope::job_pss_collector {

namespace {

constexpr MetricSpec kMetrics[] = {
    {"job.memory.pss", "By", Kind::gauge, "",
     "Memory of the job; a page shared by n processes counts as 1/n for each"},
};

constexpr int64_t kLongest = 300 * kNsPerSecond;
constexpr int64_t kPagesOfOneFault = 16;  // as many neighbours of a file's page are mapped with it

// Values that change when pages are mapped, unmapped or copied.
struct Traces {
  std::set<pid_t> processes;
  int64_t pages = 0, faults = 0;
};

Traces traces_of(const std::map<pid_t, ProcessStat>& members) {
  Traces traces;
  for (const auto& [pid, stat] : members) {
    traces.processes.insert(pid);
    traces.pages += stat.resident_pages;
    traces.faults += stat.minor_faults + stat.major_faults;
  }
  return traces;
}

bool may_differ(const Traces& now, const Traces& before) {
  if (now.processes != before.processes) return true;
  const int64_t changed = (now.faults - before.faults) * kPagesOfOneFault;
  return changed + std::abs(now.pages - before.pages) > before.pages / 100;
}

class JobPssSource : public Source {
 public:
  Opened open(const SourceContext& context) override {
    root_ = context.root;
    members_.open(root_, context.job);
    Opened opened;
    const std::string path = root_ + "/proc/self/smaps_rollup";
    if (const auto text = read_file(path); !text) {
      opened.missing.push_back(
          {"job.memory.pss", read_error_text(path, text.error()), "Linux 4.14 or later"});
      return opened;
    }
    opened.columns = {{"job.memory.pss", {}, {1024, 1}}};
    return opened;
  }

  Sampled sample(std::span<int64_t> values) override {
    if (values.empty()) return Sampled::ok;
    members_.refresh();
    const int64_t now = monotonic_ns();
    Traces traces = traces_of(members_.all());
    if (now - read_ns_ < kLongest && !may_differ(traces, traces_)) {
      values[0] = kAbsent;
      return Sampled::ok;
    }
    values[0] = read_sum();
    // Of a job that has not begun, or that was refused, there is nothing to go by.
    if (values[0] != kAbsent) read_ns_ = now;
    traces_ = std::move(traces);
    return Sampled::ok;
  }

 private:
  int64_t read_sum() const {
    int64_t sum = 0;
    bool has_memory = false;
    for (const auto& [pid, before] : members_.all()) {
      const auto text = read_file(fmt::format("{}/proc/{}/smaps_rollup", root_, pid));
      if (!text) {
        ProcessStat stat;
        const Status known = read_stat(root_, pid, stat);
        const bool ended =
            known ? stat.state == 'Z' || stat.state == 'X' : has_ended(known.error());
        if (!ended) return kAbsent;  // refused: the sum would be too small
        continue;
      }
      const size_t at = text->find("\nPss:");
      int64_t kb = 0;
      if (at != std::string::npos && Scanner(std::string_view(*text).substr(at + 5)).number(kb)) {
        sum += kb;
        has_memory = true;
      }
    }
    // Before the job's first instruction and after its last the value is unknown, not 0 bytes.
    return has_memory ? sum : kAbsent;
  }

  std::string root_;
  JobMembers members_;
  Traces traces_;
  int64_t read_ns_ = -kLongest;
};

}  // namespace

extern const Collector entry;
const Collector entry = {
    .name = "job_pss",
    .summary = "memory of the job, with shared pages divided among processes",
    .needs = "/proc/PID/smaps_rollup of the job's processes",
    .scope = Scope::job,
    .pace = Pace::thread,
    .period_ns = 10'000'000'000,
    .rest_factor = 500,
    .metrics = kMetrics,
    .make = [] { return std::unique_ptr<Source>(std::make_unique<JobPssSource>()); },
};

}  // namespace trainscope::job_pss_collector
