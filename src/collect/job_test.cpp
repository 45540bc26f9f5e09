#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "collect/support/opened_source.h"
#include "testing/descriptor_limit.h"

namespace trainscope {

namespace job_collector {
extern const Collector entry;
}

namespace job_test {

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
  void put(pid_t pid, pid_t parent, int64_t written, int64_t child_faults = 0,
           int64_t pages = 5) const {
    const std::string folder = fmt::format("/proc/{}", pid);
    root_.write(folder + "/stat",
                fmt::format("{} (job) S {} 1 1 0 -1 0 {} {} 0 0 5 5 0 0 20 0 1 0 9 1000 {} 1\n",
                            pid, parent, faults(written), child_faults, pages));
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

  // New processes are searched for with pauses while some could not be read.
  static void sample_until(OpenedSource& source, const std::string& series, double wanted) {
    for (int i = 0; i < 30'000 && source.value(series) != wanted; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      source.sample();
    }
    EXPECT_EQ(source.value(series), wanted);
  }

  TestRoot root_;
  Reaped reaped_;
  JobLink job_;
  SourceContext context_;
};

// Both are seen once and gone at the next sample; the parent ended first.
TEST_F(JobTree, counts_an_orphan_once_whose_last_seen_parent_has_ended_too) {
  put(kFirst, kReaper, 0);
  put(kParent, kFirst, 0);
  put(kOrphan, kParent, 2'000);
  OpenedSource source(job_collector::entry, root_.path(), context_);
  source.sample();
  EXPECT_EQ(source.value(kWritten), 2'000);
  end(kParent);
  end(kOrphan);
  reaped_.note(kOrphan);
  reaped_.write_chars += 10'000;
  source.sample(5);
  EXPECT_EQ(source.value(kWritten), 10'000);
}

// The recorder of a job with very many processes may run out of descriptors.
TEST_F(JobTree, counts_a_process_later_that_it_had_no_descriptor_for) {
  put(kFirst, kReaper, 2'000);
  std::vector<std::string> events;
  context_.event_sink = [&](const std::string&, const std::string& text) {
    events.push_back(text);
  };
  OpenedSource source(job_collector::entry, root_.path(), context_);
  source.sample();
  put(kParent, kFirst, 300);
  give_pids_up_to(kParent);
  {
    const NoFreeDescriptors limit;
    source.sample();
    source.sample();
  }
  EXPECT_EQ(source.value("job.process.count"), 1);
  EXPECT_EQ(source.value(kWritten), 2'000);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_NE(events[0].find("no free file descriptor"), std::string::npos);
  sample_until(source, "job.process.count", 2);
  EXPECT_EQ(source.value(kWritten), 2'300);
}

// One descriptor is enough to find a process, not to follow it.
TEST_F(JobTree, needs_both_files_of_a_process) {
  OpenedSource source(job_collector::entry, root_.path(), context_);
  source.sample();
  put(kFirst, kReaper, 2'000);
  put(kParent, kFirst, 300);
  give_pids_up_to(kParent);
  {
    const FewFreeDescriptors limit(1);
    source.sample();
  }
  EXPECT_FALSE(source.value("job.process.count"));
  sample_until(source, "job.process.count", 2);
  EXPECT_EQ(source.value(kWritten), 2'300);
}

// Only its end removes a process: it would not be found again.
TEST_F(JobTree, stays_with_a_process_that_cannot_be_read_once) {
  put(kFirst, kReaper, 2'000);
  OpenedSource source(job_collector::entry, root_.path(), context_);
  source.sample();
  root_.write("/proc/100/stat", "100 (job) S torn\n");
  EXPECT_EQ(source.sample(), Sampled::ok);
  EXPECT_EQ(source.value("job.process.count"), 1);
  EXPECT_EQ(source.value(kWritten), 2'000);
  put(kFirst, kReaper, 5'000);
  source.sample();
  EXPECT_EQ(source.value(kWritten), 5'000);
}

TEST_F(JobTree, keeps_what_nobody_absorbed) {
  put(kFirst, kReaper, 0);
  put(kParent, kFirst, 2'000);
  OpenedSource source(job_collector::entry, root_.path(), context_);
  source.sample();
  end(kParent);
  source.sample(5);
  EXPECT_EQ(source.value(kWritten), 2'000);
}

TEST_F(JobTree, does_not_take_the_parents_own_writes_for_a_childs_that_nobody_reaped) {
  put(kFirst, kReaper, 0);
  put(kParent, kFirst, 2'000);
  OpenedSource source(job_collector::entry, root_.path(), context_);
  source.sample();
  end(kParent);
  put(kFirst, kReaper, 4'000);
  source.sample(5);
  EXPECT_EQ(source.value(kWritten), 6'000);
}

TEST_F(JobTree, counts_a_child_once_that_its_parent_reaped) {
  put(kFirst, kReaper, 0);
  put(kParent, kFirst, 2'000);
  OpenedSource source(job_collector::entry, root_.path(), context_);
  source.sample();
  end(kParent);
  put(kFirst, kReaper, 2'000, faults(2'000));
  source.sample(5);
  EXPECT_EQ(source.value(kWritten), 2'000);
}

TEST_F(JobTree, has_no_memory_to_show_when_its_last_process_has_given_it_back) {
  put(kFirst, kReaper, 0);
  OpenedSource source(job_collector::entry, root_.path(), context_);
  source.sample();
  EXPECT_GT(source.value("job.memory.usage"), 0);
  put(kFirst, kReaper, 0, 0, 0);
  source.sample();
  EXPECT_FALSE(source.value("job.memory.usage"));
  EXPECT_EQ(source.value("job.process.count"), 1);
}

// The other sources do not look at every new process of the machine again.
TEST_F(JobTree, tells_the_other_sources_what_it_found) {
  JobRoster roster;
  job_.roster = &roster;
  const auto pids = [&] {
    std::vector<pid_t> all;
    for (const JobRoster::Member& member : roster.get().members) all.push_back(member.pid);
    return all;
  };
  put(kFirst, kReaper, 0);
  put(kParent, kFirst, 0);
  give_pids_up_to(kParent);
  OpenedSource source(job_collector::entry, root_.path(), context_);
  source.sample();
  EXPECT_EQ(pids(), (std::vector<pid_t>{kFirst, kParent}));
  EXPECT_EQ(roster.get().members[0].start_ticks, 9);
  EXPECT_EQ(roster.get().seen_pid, kParent);
  end(kParent);
  source.sample();
  EXPECT_EQ(pids(), std::vector<pid_t>{kFirst});
}

// Pids 101 and 102 are given out again, now to a child of 102: two processes that were each other's
// parents.
TEST_F(JobTree, is_not_led_in_a_circle_by_reused_pids) {
  root_.write("/proc/sys/kernel/pid_max", "200\n");
  put(kFirst, kReaper, 0);
  put(kParent, kFirst, 0);
  put(kOrphan, kParent, 2'000);
  OpenedSource source(job_collector::entry, root_.path(), context_);
  give_pids_up_to(kOrphan + 1);
  source.sample();
  end(kParent);
  end(kOrphan);
  source.sample();
  put(kOrphan, kFirst, 0);
  put(kParent, kOrphan, 300);
  give_pids_up_to(kOrphan);
  source.sample();
  EXPECT_EQ(source.value("job.process.count"), 3);
  EXPECT_EQ(source.value(kWritten), 2'300);
  end(kParent);
  put(kOrphan, kFirst, 300, faults(300));
  source.sample(5);
  EXPECT_EQ(source.value("job.process.count"), 2);
  EXPECT_EQ(source.value(kWritten), 2'300);
}

}  // namespace job_test

}  // namespace trainscope
