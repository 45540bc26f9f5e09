#include <fmt/format.h>
#include <gtest/gtest.h>

#include "collect/support/test_root.h"

namespace trainscope {

extern const Collector job_collector;

namespace {

constexpr pid_t kReaper = 50, kFirst = 100, kParent = 101, kOrphan = 102;
// Page faults of a process that wrote so much.
constexpr int64_t faults(int64_t written) { return 30 + written; }
const std::string kWritten = "job.io.bytes{direction=write}";

class JobTree : public testing::Test {
 protected:
  JobTree() {
    root_.write("/proc/self/io", "");
    give_pids_up_to(kReaper);
    job_.first_pid = kFirst;
    job_.reaper_pid = kReaper;
    job_.reaped = &reaped_;
    context_.job = &job_;
  }

  void give_pids_up_to(pid_t last) const {
    root_.write("/proc/loadavg", fmt::format("0.00 0.00 0.00 1/100 {}\n", last));
  }
  void put(pid_t pid, pid_t parent, int64_t written, int64_t child_faults = 0) const {
    const std::string folder = fmt::format("/proc/{}", pid);
    root_.write(folder + "/stat",
                fmt::format("{} (job) S {} 1 1 0 -1 0 {} {} 0 0 5 5 0 0 20 0 1 0 9 1000 5 1\n", pid,
                            parent, faults(written), child_faults));
    root_.write(folder + "/status", fmt::format("Name:\tjob\nTgid:\t{}\n", pid));
    root_.write(
        folder + "/io",
        fmt::format("rchar: 0\nwchar: {}\nsyscr: 0\nsyscw: 0\nread_bytes: 0\nwrite_bytes: 0\n",
                    written));
  }
  // Its files, which are open, say nothing more.
  void end(pid_t pid) const {
    for (const char* name : {"stat", "status", "io"})
      root_.write(fmt::format("/proc/{}/{}", pid, name), "");
  }

  TestRoot root_;
  Reaped reaped_;
  JobLink job_;
  SourceContext context_;
};

// Both are seen once and gone at the next sample; the parent ended first.
TEST_F(JobTree, CountsAnOrphanOnceWhoseLastSeenParentHasEndedToo) {
  put(kFirst, kReaper, 0);
  put(kParent, kFirst, 0);
  put(kOrphan, kParent, 2'000);
  OpenedSource source(job_collector, root_.path(), context_);
  source.sample();
  EXPECT_EQ(source.value(kWritten), 2'000);
  end(kParent);
  end(kOrphan);
  reaped_.note(kOrphan);
  reaped_.write_chars += 10'000;
  source.sample(5);
  EXPECT_EQ(source.value(kWritten), 10'000);
}

TEST_F(JobTree, KeepsWhatNobodyAbsorbed) {
  put(kFirst, kReaper, 0);
  put(kParent, kFirst, 2'000);
  OpenedSource source(job_collector, root_.path(), context_);
  source.sample();
  end(kParent);
  source.sample(5);
  EXPECT_EQ(source.value(kWritten), 2'000);
}

TEST_F(JobTree, DoesNotTakeTheParentsOwnWritesForAChildsThatNobodyReaped) {
  put(kFirst, kReaper, 0);
  put(kParent, kFirst, 2'000);
  OpenedSource source(job_collector, root_.path(), context_);
  source.sample();
  end(kParent);
  put(kFirst, kReaper, 4'000);
  source.sample(5);
  EXPECT_EQ(source.value(kWritten), 6'000);
}

TEST_F(JobTree, CountsAChildOnceThatItsParentReaped) {
  put(kFirst, kReaper, 0);
  put(kParent, kFirst, 2'000);
  OpenedSource source(job_collector, root_.path(), context_);
  source.sample();
  end(kParent);
  put(kFirst, kReaper, 2'000, faults(2'000));
  source.sample(5);
  EXPECT_EQ(source.value(kWritten), 2'000);
}

}  // namespace

}  // namespace trainscope
