#include "collect/support/threads/role_time.h"

#include <gtest/gtest.h>

#include "collect/support/threads/block_delay.h"
#include "kernel/worker_process.h"
#include "testing/test_root.h"

namespace trainscope {

namespace role_time_test {

TEST(RoleTime, is_blocked_while_it_neither_runs_nor_waits) {
  RoleTime time;
  time.begin({1000, {500, 50}, 0});
  time.advance({2000, {900, 250}, 3});
  EXPECT_EQ(time.running_ns, 400);
  EXPECT_EQ(time.runnable_ns, 200);
  EXPECT_EQ(time.blocked_ns, 400);
  EXPECT_EQ(time.delay_ticks, 3);
}

// The kernel adds a wait for a CPU when it is over, here after the second reading.
TEST(RoleTime, takes_a_long_wait_out_of_the_blocked_time_without_a_decrease) {
  RoleTime time;
  time.begin({0, {0, 0}, 0});
  time.advance({1000, {100, 0}, 0});
  EXPECT_EQ(time.blocked_ns, 900);
  time.advance({2000, {200, 1600}, 0});
  EXPECT_EQ(time.blocked_ns, 900);
  EXPECT_EQ(time.runnable_ns, 1600);
  time.advance({4000, {200, 1600}, 0});
  EXPECT_EQ(time.running_ns + time.runnable_ns + time.blocked_ns, 4000);
}

TEST(RoleTime, is_divided_by_the_next_state_that_shows_what_blocks) {
  RoleTime time;
  time.begin({0, {0, 0}, 0});
  time.advance({1000, {0, 0}, 0});
  time.split('R');
  EXPECT_EQ(time.disk_ns + time.other_ns, 0);
  time.advance({1500, {0, 0}, 0});
  time.split('D');
  EXPECT_EQ(time.disk_ns, 1500);
  time.advance({1700, {0, 0}, 0});
  time.split('S');
  EXPECT_EQ(time.disk_ns, 1500);
  EXPECT_EQ(time.other_ns, 200);
}

TEST(RoleTime, does_not_decrease_when_the_counts_of_a_thread_do) {
  RoleTime time;
  time.begin({0, {0, 0}, 0});
  time.advance({1000, {600, 100}, 0});
  time.advance({2000, {10, 0}, 0});
  EXPECT_EQ(time.running_ns, 600);
  EXPECT_EQ(time.runnable_ns, 100);
  EXPECT_EQ(time.blocked_ns, 1300);
}

constexpr std::string_view kTrain("python3\0train.py\0", 17);

TEST(WorkerProcess, is_a_copy_of_a_python_process_or_a_spawned_interpreter) {
  using namespace std::string_view_literals;
  EXPECT_TRUE(is_started_as_worker(kTrain, kTrain));
  EXPECT_TRUE(is_started_as_worker(
      "/venv/bin/python\0-c\0from multiprocessing.spawn import spawn_main; spawn_main()\0"sv,
      kTrain));
  EXPECT_FALSE(is_started_as_worker(
      "/venv/bin/python\0-c\0from multiprocessing.resource_tracker import main\0"sv, kTrain));
  EXPECT_FALSE(is_started_as_worker(
      "/venv/bin/python\0-c\0from multiprocessing.forkserver import main\0"sv, kTrain));
  EXPECT_FALSE(is_started_as_worker("bash\0-c\0x | y\0"sv, "bash\0-c\0x | y\0"sv));
  EXPECT_FALSE(is_started_as_worker("", ""));
}

TEST(WorkerProcess, has_no_threads_that_train) {
  EXPECT_TRUE(is_training_thread("pt_gloo_runloop"));
  EXPECT_TRUE(is_training_thread("pt_nccl_watchdg"));
  EXPECT_TRUE(is_training_thread("cuda-EvtHandlr"));
  EXPECT_FALSE(is_training_thread("python3"));
  EXPECT_FALSE(is_training_thread("pt_data_pin"));
}

// Before Linux 5.14 it was always measured, unless switched off at boot.
TEST(BlockDelay, is_measured_by_default_before_there_was_a_setting) {
  const TestRoot root;
  root.write("/proc/sys/kernel/osrelease", "4.18.0-553.el8.x86_64\n");
  EXPECT_FALSE(missing_block_delay(root.path(), "m"));
  root.write("/proc/cmdline", "root=/dev/vda nodelayacct quiet\n");
  EXPECT_TRUE(missing_block_delay(root.path(), "m"));
  root.remove("/proc/cmdline");
  root.write("/proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
  EXPECT_EQ(missing_block_delay(root.path(), "m")->remedy, "a kernel with CONFIG_TASK_DELAY_ACCT");
  root.write("/proc/sys/kernel/task_delayacct", "1\n");
  EXPECT_FALSE(missing_block_delay(root.path(), "m"));
}

}  // namespace role_time_test

}  // namespace trainscope
