#include "kernel/process_tree.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "base/clock.h"
#include "kernel/job_roster.h"
#include "testing/descriptor_limit.h"
#include "testing/test_root.h"

namespace trainscope {
namespace process_tree_test {

const std::string kNumbers = " S 1 100 100 0 -1 4194304 7 8 1 2 5 6 3 4 20 0 9 0 1000 1000000 500";

TEST(ProcessStat, name_may_contain_anything) {
  for (const char* name : {"job", "", ")", "a) Z 7 (b", "two words", "\n"}) {
    ProcessStat stat;
    ASSERT_TRUE(parse_stat("100 (" + std::string(name) + ")" + kNumbers, stat)) << name;
    EXPECT_EQ(stat.state, 'S');
    EXPECT_EQ(stat.parent, 1);
    EXPECT_EQ(stat.minor_faults, 7);
    EXPECT_EQ(stat.child_major_faults, 2);
    EXPECT_EQ(stat.user_ticks, 5);
    EXPECT_EQ(stat.child_system_ticks, 4);
    EXPECT_EQ(stat.threads, 9);
    EXPECT_EQ(stat.start_ticks, 1000);
    EXPECT_EQ(stat.resident_pages, 500);
  }
}

TEST(ProcessStat, torn_text_is_refused) {
  const std::string whole = "100 (job)" + kNumbers;
  ProcessStat stat;
  for (size_t size = 0; size < whole.rfind(' '); ++size) {
    EXPECT_FALSE(parse_stat(whole.substr(0, size), stat)) << size;
  }
}

TEST(ProcessStat, impossible_numbers_are_refused) {
  ProcessStat stat;
  EXPECT_FALSE(parse_stat("1 (a) S 1 1 1 0 -1 0 7 8 1 2 999999999999 6 3 4 20 0 9 0 1 1 1", stat));
  EXPECT_FALSE(
      parse_stat("1 (a) S 1 1 1 0 -1 0 9223372036854775807 8 1 2 5 6 3 4 20 0 9 0 1 1 1", stat));
}

// A job of one process, 100, that somebody else started: its files are there before ours.
class JobMembersTest : public testing::Test {
 protected:
  JobMembersTest() {
    give_pids_up_to(100);
    put(100, 1);
    job_.first_pid = 100;
    members_.open(root_.path(), &job_);
  }
  void give_pids_up_to(pid_t last) const {
    root_.write("/proc/loadavg", fmt::format("0.00 0.00 0.00 1/100 {}\n", last));
  }
  void put(pid_t pid, pid_t parent) const {
    root_.write(fmt::format("/proc/{}/stat", pid),
                fmt::format("{} (job) S {} 1 1 0 -1 0 7 8 1 2 5 6 3 4 20 0 9 0 1000 1000000 500\n",
                            pid, parent));
    root_.write(fmt::format("/proc/{}/status", pid), fmt::format("Name:\tjob\nTgid:\t{}\n", pid));
  }
  std::vector<pid_t> pids() const {
    std::vector<pid_t> all;
    for (const auto& [pid, stat] : members_.all()) all.push_back(pid);
    return all;
  }

  TestRoot root_;
  JobProcesses job_;
  JobMembers members_;
};

TEST_F(JobMembersTest, join_and_end) {
  members_.refresh();
  EXPECT_EQ(pids(), std::vector<pid_t>{100});
  put(101, 100);
  give_pids_up_to(101);
  members_.refresh();
  EXPECT_EQ(pids(), (std::vector<pid_t>{100, 101}));
  root_.remove("/proc/101");
  members_.refresh();
  EXPECT_EQ(pids(), std::vector<pid_t>{100});
}

TEST_F(JobMembersTest, stay_and_join_later_without_a_free_descriptor) {
  members_.refresh();
  put(101, 100);
  give_pids_up_to(101);
  {
    const NoFreeDescriptors limit;
    members_.refresh();
    EXPECT_EQ(pids(), std::vector<pid_t>{100});
  }
  // Searching takes a small share of the time while there are none.
  for (int i = 0; i < 30'000 && pids().size() < 2; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    members_.refresh();
  }
  EXPECT_EQ(pids(), (std::vector<pid_t>{100, 101}));
}

// What the source `job` found: nothing else is looked at while that is fresh.
class SharedMembersTest : public JobMembersTest {
 protected:
  SharedMembersTest() {
    job_.roster = &roster_;
    members_.open(root_.path(), &job_);
  }
  void list(std::vector<JobRoster::Member> members, int64_t age_ns = 0) {
    roster_.put({std::move(members), 100, monotonic_ns() - age_ns});
    members_.refresh();
  }

  static constexpr int64_t kOld = kNsPerSecond;
  JobRoster roster_;
};

TEST_F(SharedMembersTest, are_those_of_the_roster) {
  put(101, 100);
  put(102, 100);
  give_pids_up_to(102);
  list({{100, 1000}, {102, 1000}});
  EXPECT_EQ(pids(), (std::vector<pid_t>{100, 102}));
  list({{100, 1000}, {101, 1000}});
  EXPECT_EQ(pids(), (std::vector<pid_t>{100, 101, 102})) << "102 still runs";
}

TEST_F(SharedMembersTest, are_looked_for_where_the_roster_is_old) {
  put(101, 100);
  list({{100, 1000}, {101, 1000}});
  put(102, 101);
  give_pids_up_to(102);
  list({{100, 1000}, {101, 1000}}, kOld);
  EXPECT_EQ(pids(), (std::vector<pid_t>{100, 101, 102}));
}

TEST_F(SharedMembersTest, end_and_leave_their_pids_to_others) {
  put(101, 100);
  list({{100, 1000}, {101, 1000}});
  root_.remove("/proc/101");
  list({{100, 1000}, {101, 1000}});
  EXPECT_EQ(pids(), std::vector<pid_t>{100});
  put(101, 100);
  list({{100, 1000}, {101, 1000}});
  EXPECT_EQ(pids(), std::vector<pid_t>{100}) << "the same process is not found twice";
  list({{100, 1000}, {101, 2000}});
  EXPECT_EQ(pids(), (std::vector<pid_t>{100, 101}));
}

TEST(SharedTreeTest, a_pid_that_is_still_held_is_found_when_it_is_given_back) {
  TestRoot root;
  root.write("/proc/loadavg", "0.00 0.00 0.00 1/100 100\n");
  JobRoster roster;
  JobProcesses job;
  job.first_pid = 100;
  job.roster = &roster;
  ProcessTree tree;
  tree.open(root.path(), &job);
  roster.put({{{100, 1000}}, 100, monotonic_ns()});
  EXPECT_EQ(tree.find_new(), std::vector<pid_t>{100});
  roster.put({{{100, 2000}}, 100, monotonic_ns()});
  EXPECT_TRUE(tree.find_new().empty());
  tree.remove(100);
  EXPECT_EQ(tree.find_new(), std::vector<pid_t>{100});
}

}  // namespace process_tree_test
}  // namespace trainscope
