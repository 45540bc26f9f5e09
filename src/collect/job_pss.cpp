// job_pss: memory of the job with shared pages divided among those who share them.
//
// Source: /proc/PID/smaps_rollup. Units: kB. Permission: own processes. Cost: the kernel walks
// every page table: 7 ms for 1 GiB in small pages; hence every max(10 s, 500 times what the last
// reading took), on a thread of its own. Caveats: kernels before 4.14 have no such file.
#include <fmt/format.h>

#include <set>
#include <string>

#include "collect/collect.h"
#include "collect/support/proc_file.h"
#include "collect/support/process_tree.h"

namespace trainscope {

namespace {

constexpr MetricSpec kMetrics[] = {
    {"job.memory.pss", "By", Kind::gauge, "",
     "Memory of the job; a page that n processes share counts 1/n for each"},
};

class JobPssSource : public Source {
 public:
  Opened open(const Surroundings& surroundings) override {
    root_ = surroundings.root;
    tree_.open(root_, surroundings.job);
    Opened opened;
    const std::string path = root_ + "/proc/self/smaps_rollup";
    if (const auto text = read_file(path); !text) {
      opened.missing.push_back(
          {"job.memory.pss", why_unreadable(path, text.error()), "a kernel from 4.14 on"});
      return opened;
    }
    opened.columns = {{"job.memory.pss", {}, {1024, 1}}};
    return opened;
  }

  Sampled sample(std::span<int64_t> values) override {
    if (values.empty()) return Sampled::ok;
    for (const pid_t pid : tree_.find_new()) members_.insert(pid);
    int64_t sum = 0;
    bool complete = true;
    std::erase_if(members_, [&](pid_t pid) {
      const auto text = read_file(fmt::format("{}/proc/{}/smaps_rollup", root_, pid));
      if (!text) {
        ProcessStat stat;
        const bool alive = read_stat(root_, pid, stat) && stat.state != 'Z' && stat.state != 'X';
        complete = complete && !alive;  // alive but refused: the sum would be too small
        if (!alive) tree_.remove(pid);
        return !alive;
      }
      const size_t at = text->find("\nPss:");
      int64_t kb = 0;
      if (at != std::string::npos && Scanner(std::string_view(*text).substr(at + 5)).number(kb)) {
        sum += kb;
      }
      return false;
    });
    // Before the job's first instruction there is nothing to tell, which is not 0 bytes.
    values[0] = complete && !members_.empty() ? sum : kAbsent;
    return Sampled::ok;
  }

 private:
  std::string root_;
  ProcessTree tree_;
  std::set<pid_t> members_;
};

}  // namespace

extern const Collector job_pss_collector;
const Collector job_pss_collector = {
    .name = "job_pss",
    .summary = "memory of the job, shared pages divided",
    .needs = "/proc/PID/smaps_rollup of the job's processes",
    .scope = Scope::job,
    .pace = Pace::thread,
    .period_ns = 10'000'000'000,
    .rest_factor = 500,
    .metrics = kMetrics,
    .make = [] { return std::unique_ptr<Source>(std::make_unique<JobPssSource>()); },
};

}  // namespace trainscope
