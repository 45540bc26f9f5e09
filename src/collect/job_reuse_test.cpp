// A pid that was given out again to a process that is not the job's.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "collect/support/opened_source.h"

namespace trainscope {

namespace job_switches_collector {
extern const Collector entry;
}
namespace job_pss_collector {
extern const Collector entry;
}

namespace job_reuse_test {

constexpr pid_t kPid = 100;

class ReusedPid : public testing::Test {
 protected:
  ReusedPid() {
    root_.write("/proc/loadavg", "0.00 0.00 0.00 1/100 200\n");
    root_.write("/proc/self/status", status(1));
    root_.write("/proc/self/smaps_rollup", smaps(1));
    job_.first_pid = kPid;
    context_.job = &job_;
  }

  void put_process(int64_t start_ticks, int64_t faults, int64_t switches, int64_t pss_kb) const {
    root_.write(
        "/proc/100/stat",
        fmt::format("100 (job) S 1 100 100 0 -1 0 {} 0 0 0 5 5 0 0 20 0 1 0 {} 1000000 500 1\n",
                    faults, start_ticks));
    root_.write("/proc/100/task/100/status", status(switches));
    root_.write("/proc/100/smaps_rollup", smaps(pss_kb));
  }
  static std::string status(int64_t switches) {
    return fmt::format(
        "Name:\tjob\nState:\tS (sleeping)\nPPid:\t1\nvoluntary_ctxt_switches:\t{}\n"
        "nonvoluntary_ctxt_switches:\t0\n",
        switches);
  }
  static std::string smaps(int64_t kb) { return fmt::format("0-1 [rollup]\nPss:  {} kB\n", kb); }

  TestRoot root_;
  JobLink job_;
  SourceContext context_;
};

TEST_F(ReusedPid, is_not_counted_in_the_switches) {
  const std::string voluntary = "job.context_switches{type=voluntary}";
  put_process(1000, 10, 50, 1);
  OpenedSource source(job_switches_collector::entry, root_.path(), context_);
  source.sample();
  put_process(1000, 10, 60, 1);
  source.sample();
  EXPECT_EQ(source.value(voluntary), 10);
  put_process(2000, 10, 9000, 1);
  source.sample();
  EXPECT_EQ(source.value(voluntary), 10);
}

TEST_F(ReusedPid, is_not_counted_in_the_memory) {
  put_process(1000, 10, 1, 1000);
  OpenedSource source(job_pss_collector::entry, root_.path(), context_);
  source.sample();
  EXPECT_EQ(source.value("job.memory.pss"), 1000 * 1024);
  put_process(2000, 5000, 1, 9000);
  source.sample();
  EXPECT_FALSE(source.value("job.memory.pss"));
}

}  // namespace job_reuse_test

}  // namespace trainscope
