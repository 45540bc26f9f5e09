// Which threads have the roles of workers and of the busiest thread.
#include "collect/support/threads/fake_threads.h"

namespace trainscope {

namespace job_threads_roles_test {

TEST_F(JobThreads, workers_are_known_by_name_and_count_from_their_start) {
  start({.cpu_s = 0.1, .run_s = 0.1});
  for (const pid_t pid : {kSecond, kThird}) {
    put({.pid = pid, .parent = kFirst, .name = "pt_data_worker", .cpu_s = 0.9, .run_s = 0.9});
  }
  give_pids_up_to(kThird);
  sample();
  expect("worker0", 0, 0, 0);  // increases are complete
  expect("worker1", 0, 0, 0);
  put({.pid = kThird, .parent = kFirst, .name = "pt_data_worker", .cpu_s = 1, .run_s = 1});
  sample();
  expect("main", 0.1, 0, 1.9);
  expect("worker0", 0.9, 0, 1.1);
  expect("worker1", 1, 0, 1);
  end(kSecond);
  put({.pid = 103, .parent = kFirst, .name = "pt_data_worker", .cpu_s = 0.3, .run_s = 0.3});
  give_pids_up_to(103);
  sample();  // the next epoch
  expect("worker0", 1.2, 0, 1.8);
  EXPECT_FALSE(source_->has(time_of("worker2", "running")));
}

TEST_F(JobThreads, a_copy_of_a_python_process_that_hands_over_memory_is_a_worker_at_second_sight) {
  start({.command = kPython, .cpu_s = 0.1, .run_s = 0.1});
  for (const pid_t pid : {kSecond, kThird}) {
    put({.pid = pid, .parent = kFirst, .command = kPython, .cpu_s = 0.9, .run_s = 0.9});
    put_resource_sharer(pid);
  }
  give_pids_up_to(kThird);
  sample();
  expect("main", 0.1, 0, 0.9);
  put({.pid = kThird, .parent = kFirst, .name = "git", .command = "git", .cpu_s = 0.9});
  sample();
  sample();
  expect("worker0", 0.9, 0, 2.1);
  EXPECT_FALSE(source_->has(time_of("worker1", "running")));
}

TEST_F(JobThreads, a_worker_is_known_once_it_has_handed_over_a_batch) {
  start({.command = kPython, .cpu_s = 0.1, .run_s = 0.1});
  put({.pid = kSecond, .parent = kFirst, .command = kPython, .cpu_s = 0.9, .run_s = 0.9});
  give_pids_up_to(kSecond);
  sample();
  expect("main", 0.1, 0, 0.9);
  put_resource_sharer(kSecond);
  for (int i = 0; i < 8; ++i) sample();
  expect("main", 0.1, 0, 8.9);
  expect("worker0", 0.9, 0, 8.1);
}

// It imports what the job does before it loads anything.
TEST_F(JobThreads, a_worker_that_takes_long_to_start_is_known_soon_after_its_first_batch) {
  start({.command = kPython, .cpu_s = 20, .run_s = 20});
  put({.pid = kSecond, .parent = kFirst, .command = kPython, .cpu_s = 9, .run_s = 9});
  give_pids_up_to(kSecond);
  for (int i = 0; i < 30; ++i) sample();
  put_resource_sharer(kSecond);
  for (int i = 0; i < 7; ++i) sample();
  EXPECT_TRUE(source_->has(time_of("worker0", "running")));
}

// Pools, actors, ranks that train on CPUs: multiprocessing starts them as it does workers.
TEST_F(JobThreads, a_child_of_multiprocessing_is_not_a_worker_without_further_evidence) {
  start({.command = kPython, .cpu_s = 0.1, .run_s = 0.1});
  using namespace std::string_literals;
  const std::string spawned = "python3\0-c\0from multiprocessing.spawn import spawn_main\0"s;
  put({.pid = kSecond, .parent = kFirst, .command = kPython, .cpu_s = 0.9, .run_s = 0.9});
  put({.pid = kThird, .parent = kFirst, .command = spawned, .cpu_s = 0.8, .run_s = 0.8});
  // It has a socket, but not that of a resource sharer.
  root_.write("/proc/102/net/unix", "0: 00000002 00000000 00010000 0001 01 78 /run/other\n");
  std::filesystem::create_directories(root_.at("/proc/102/fd"));
  std::filesystem::create_symlink("socket:[78]", root_.at("/proc/102/fd/5"));
  give_pids_up_to(kThird);
  sample();
  expect("main", 0.1, 0, 0.9);
  for (int i = 0; i < 8; ++i) sample();
  EXPECT_FALSE(source_->has(time_of("worker0", "running")));
  // It does the work.
  put({.pid = kSecond, .parent = kFirst, .command = kPython, .cpu_s = 1.9, .run_s = 1.9});
  sample();
  EXPECT_EQ(source_->value(time_of("main", "running")), 1.1);
}

TEST_F(JobThreads, a_pool_that_compiles_for_the_job_has_no_role) {
  start({.command = kPython, .cpu_s = 0.1, .run_s = 0.1});
  using namespace std::string_literals;
  const std::string pool = "python3\0/lib/torch/_inductor/compile_worker/__main__.py\0"s;
  put({.pid = kSecond, .parent = kFirst, .command = pool, .cpu_s = 3, .run_s = 3});
  put({.pid = kThird, .parent = kSecond, .command = pool, .cpu_s = 9, .run_s = 9});
  give_pids_up_to(kThird);
  for (int i = 0; i < 9; ++i) sample();
  expect("main", 0.1, 0, 8.9);
  EXPECT_FALSE(source_->has(time_of("worker0", "running")));
}

TEST_F(JobThreads, a_rank_is_not_a_worker) {
  start({.command = kPython, .cpu_s = 0.1, .run_s = 0.1});
  put({.pid = kSecond, .parent = kFirst, .command = kPython, .cpu_s = 2, .run_s = 2});
  put_thread(kSecond, 110, "pt_gloo_runloop", 0);
  give_pids_up_to(kSecond);
  sample();
  sample();
  sample();
  EXPECT_FALSE(source_->has(time_of("worker0", "running")));
  expect("main", 2, 0, 1);
}

TEST_F(JobThreads, more_than_sixteen_workers_are_noted) {
  start({});
  for (pid_t pid = 101; pid <= 118; ++pid) {
    put({.pid = pid, .parent = kFirst, .name = "pt_data_worker"});
  }
  give_pids_up_to(118);
  sample();
  sample();
  EXPECT_TRUE(source_->has(time_of("worker15", "running")));
  EXPECT_FALSE(source_->has(time_of("worker16", "running")));
  ASSERT_EQ(events_.size(), 1U);
  EXPECT_NE(events_[0].find("more than 16"), std::string::npos);
}

TEST_F(JobThreads, busiest_is_who_ran_most_in_each_interval) {
  start({.threads = 4});
  for (const pid_t tid : {110, 111}) put_thread(kFirst, tid, "python3", 5);
  put_thread(kFirst, 112, "pt_data_pin", 1);
  sample();
  EXPECT_FALSE(source_->has(time_of("busiest", "running")));
  put_thread(kFirst, 110, "python3", 5.2);
  put_thread(kFirst, 111, "python3", 5.7);
  put_thread(kFirst, 112, "pt_data_pin", 1.9);
  sample();
  expect("busiest", 0, 0, 0);
  put_thread(kFirst, 110, "python3", 5.5);
  sample();
  expect("busiest", 1, 0, 1);
  expect("pin", 0.9, 0, 1.1);
  root_.write("/proc/100/task/110/schedstat", "");  // it has ended
  root_.remove("/proc/100/task/110");
  put({.threads = 3});
  put_thread(kFirst, 111, "python3", 5.8);
  sample();
  expect("busiest", 1.1, 0, 1.9);
}

TEST_F(JobThreads, busiest_is_unknown_where_there_are_too_many) {
  start({.threads = 2});
  put_thread(kFirst, 110, "python3", 0);
  sample(3);
  sample(1);
  sample(1);
  EXPECT_TRUE(source_->value(time_of("busiest", "running")));
  put({.threads = 65});
  sample(1);
  EXPECT_FALSE(source_->value(time_of("busiest", "running")));
  EXPECT_TRUE(source_->value(time_of("main", "running")));
  sample(1);
  ASSERT_EQ(events_.size(), 1U);
  EXPECT_NE(events_[0].find("65 threads"), std::string::npos);
}

TEST_F(JobThreads, a_reused_pid_has_no_role) {
  start({.name = "bash"});
  put({.pid = kSecond, .parent = kFirst, .name = "pt_data_worker", .run_s = 0.5});
  give_pids_up_to(kSecond);
  sample();
  end(kSecond);
  put({.pid = kSecond, .parent = 1, .name = "pt_data_worker", .run_s = 9, .start_ticks = 1200});
  sample();
  sample();
  expect("worker0", 0.5, 0, 0.5);
}

TEST_F(JobThreads, of_a_worker_that_ended_with_the_job_are_in_the_closing_values) {
  start({});
  put({.pid = kSecond, .parent = kFirst, .name = "pt_data_worker", .cpu_s = 0.9, .run_s = 0.9});
  give_pids_up_to(kSecond);
  sample();
  expect("worker0", 0, 0, 0);
  end(kSecond);
  source_->sample_last();
  expect("worker0", 0.9, 0, 0.1);
}

}  // namespace job_threads_roles_test

}  // namespace trainscope
