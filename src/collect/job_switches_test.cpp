#include <fmt/format.h>
#include <gtest/gtest.h>

#include "collect/support/opened_source.h"
#include "testing/descriptor_limit.h"

namespace trainscope {

namespace job_switches_collector {
extern const Collector entry;
}

namespace job_switches_test {

constexpr pid_t kPid = 100;
const std::string kVoluntary = "job.context_switches{type=voluntary}";
const std::string kInvoluntary = "job.context_switches{type=involuntary}";

class JobSwitches : public testing::Test {
 protected:
  JobSwitches() {
    root_.write("/proc/loadavg", "0.00 0.00 0.00 1/100 200\n");
    root_.write("/proc/self/status", status(1, 1));
    root_.write("/proc/100/stat",
                "100 (job) S 1 100 100 0 -1 0 9 0 0 0 5 5 0 0 20 0 1 0 1000 1000000 500 1\n");
    put_thread(kPid, 0, 0);
    job_.first_pid = kPid;
    context_.job = &job_;
  }

  void put_thread(pid_t tid, int64_t voluntary, int64_t involuntary) const {
    root_.write(fmt::format("/proc/100/task/{}/status", tid), status(voluntary, involuntary));
  }
  void end_thread(pid_t tid) const { root_.remove(fmt::format("/proc/100/task/{}", tid)); }
  static std::string status(int64_t voluntary, int64_t involuntary) {
    return fmt::format(
        "Name:\tjob\nState:\tS (sleeping)\nPPid:\t1\nvoluntary_ctxt_switches:\t{}\n"
        "nonvoluntary_ctxt_switches:\t{}\n",
        voluntary, involuntary);
  }

  TestRoot root_;
  JobLink job_;
  SourceContext context_;
};

TEST_F(JobSwitches, of_an_ended_thread_stay) {
  OpenedSource source(job_switches_collector::entry, root_.path(), context_);
  source.sample();
  put_thread(101, 30, 3);
  source.sample();
  EXPECT_EQ(source.value(kVoluntary), 30);
  end_thread(101);
  put_thread(102, 5, 0);
  source.sample();
  EXPECT_EQ(source.value(kVoluntary), 35);
  EXPECT_EQ(source.value(kInvoluntary), 3);
}

TEST_F(JobSwitches, of_a_thread_with_the_tid_of_an_ended_one_are_added) {
  OpenedSource source(job_switches_collector::entry, root_.path(), context_);
  source.sample();
  put_thread(101, 30, 3);
  source.sample();
  put_thread(101, 5, 0);
  source.sample();
  EXPECT_EQ(source.value(kVoluntary), 35);
  EXPECT_EQ(source.value(kInvoluntary), 3);
  put_thread(101, 9, 1);
  source.sample();
  EXPECT_EQ(source.value(kVoluntary), 39);
  EXPECT_EQ(source.value(kInvoluntary), 4);
  end_thread(101);
  source.sample();
  put_thread(101, 40, 0);
  source.sample();
  EXPECT_EQ(source.value(kVoluntary), 79);
}

TEST_F(JobSwitches, continue_after_a_lack_of_descriptors) {
  OpenedSource source(job_switches_collector::entry, root_.path(), context_);
  source.sample();
  put_thread(kPid, 10, 0);
  source.sample();
  {
    const NoFreeDescriptors limit;
    source.sample();
  }
  EXPECT_EQ(source.value(kVoluntary), 10);
  put_thread(kPid, 25, 0);
  source.sample();
  EXPECT_EQ(source.value(kVoluntary), 25);
}

}  // namespace job_switches_test
}  // namespace trainscope
