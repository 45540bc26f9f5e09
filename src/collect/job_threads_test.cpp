#include "collect/support/threads/fake_threads.h"
#include "testing/descriptor_limit.h"

namespace trainscope {

namespace job_threads_test {

TEST_F(JobThreads, divide_the_time_since_the_job_began) {
  start({.cpu_s = 0.6, .run_s = 0.6, .wait_s = 0.1});
  expect("main", 0, 0, 0);
  sample();
  expect("main", 0.6, 0.1, 0.3);
  put({.cpu_s = 0.8, .run_s = 0.8, .wait_s = 0.1});
  sample();
  expect("main", 0.8, 0.1, 1.1);
}

TEST_F(JobThreads, are_blocked_on_what_they_were_seen_to_wait_for) {
  start({.state = 'D'});
  sample();
  put({.run_s = 0.5, .state = 'R', .delay_ticks = 7});
  sample();
  EXPECT_EQ(source_->value("job.thread.blocked{on=disk;role=main}"), 1);
  EXPECT_EQ(source_->value("job.thread.blocked{on=other;role=main}"), 0);
  put({.run_s = 0.5, .state = 'S', .delay_ticks = 12});
  sample();
  EXPECT_EQ(source_->value("job.thread.blocked{on=disk;role=main}"), 1);
  EXPECT_EQ(source_->value("job.thread.blocked{on=other;role=main}"), 1.5);
  EXPECT_EQ(source_->value("job.thread.delay{role=main}"), 0.12);
}

// A job with steps of a second would always be seen in the same state.
TEST_F(JobThreads, are_not_read_in_step_with_the_job) {
  EXPECT_TRUE(job_threads_collector::entry.varies);
}

TEST_F(JobThreads, a_wait_for_a_file_system_in_user_space_is_one_for_disk) {
  start({.state = 'S'});
  root_.write("/proc/100/wchan", "request_wait_answer");
  sample();
  put({.run_s = 0.1, .state = 'S'});
  sample();
  EXPECT_EQ(source_->value("job.thread.blocked{on=disk;role=main}"), 1.9);
  root_.write("/proc/100/wchan", "futex_wait_queue");
  put({.run_s = 0.2, .state = 'S'});
  sample();
  EXPECT_EQ(source_->value("job.thread.blocked{on=disk;role=main}"), 1.9);
  EXPECT_EQ(source_->value("job.thread.blocked{on=other;role=main}"), 0.9);
}

// A compiler may have inlined the function, or made a copy of it.
TEST_F(JobThreads, a_wait_for_fuse_has_other_names_on_other_kernels) {
  start({.state = 'S'});
  double expected = 0;
  for (const char* function : {"request_wait_answer.isra.0", "__fuse_simple_request",
                               "fuse_simple_request.constprop.0", "fuse_direct_io"}) {
    root_.write("/proc/100/wchan", function);
    put({.state = 'S'});
    sample();
    EXPECT_EQ(source_->value("job.thread.blocked{on=disk;role=main}"), ++expected) << function;
  }
  EXPECT_TRUE(events_.empty());
}

TEST_F(JobThreads, a_kernel_that_hides_where_threads_wait_is_noted_once) {
  start({.state = 'S'});
  root_.write("/proc/100/wchan", "0");
  for (int i = 0; i < 9; ++i) sample();
  root_.write("/proc/100/wchan", "futex_wait_queue");
  sample();
  EXPECT_TRUE(events_.empty()) << "it may have been awake";
  root_.write("/proc/100/wchan", "0");
  for (int i = 0; i < 30; ++i) sample();
  ASSERT_EQ(events_.size(), 1U);
  EXPECT_TRUE(events_[0].starts_with("/proc/PID/wchan of the job's processes cannot be read"));
}

TEST_F(JobThreads, main_is_the_process_that_works_and_not_the_shell) {
  start({.name = "bash", .cpu_s = 0.01, .run_s = 0.01});
  put({.pid = kSecond, .parent = kFirst, .cpu_s = 0.5, .run_s = 0.4});
  give_pids_up_to(kSecond);
  sample();
  expect("main", 0.4, 0, 0.6);
}

TEST_F(JobThreads, main_moves_to_a_process_with_clearly_more_cpu_time_and_never_jumps) {
  start({.cpu_s = 1, .run_s = 1});
  sample();
  put({.pid = kSecond, .parent = kFirst, .name = "other", .cpu_s = 1.4, .run_s = 1.4});
  give_pids_up_to(kSecond);
  sample();  // not clearly more
  expect("main", 1, 0, 1);
  put({.pid = kSecond, .parent = kFirst, .name = "other", .cpu_s = 2.4, .run_s = 2.4});
  sample();  // from now on it counts
  expect("main", 1, 0, 2);
  put({.pid = kSecond, .parent = kFirst, .name = "other", .cpu_s = 3.2, .run_s = 3.2});
  put({.cpu_s = 3.3, .run_s = 3.3});
  sample();
  expect("main", 1.8, 0, 2.2);
}

TEST_F(JobThreads, main_is_not_a_compiler_that_the_job_starts) {
  start({.cpu_s = 1, .run_s = 1});
  sample();
  put({.pid = kSecond, .parent = kFirst, .name = "cc1plus", .cpu_s = 20, .run_s = 20});
  give_pids_up_to(kSecond);
  sample();
  put({.pid = kSecond, .parent = kFirst, .name = "cc1plus", .cpu_s = 21, .run_s = 21});
  sample();
  expect("main", 1, 0, 2);
}

TEST_F(JobThreads, main_continues_with_the_next_program) {
  start({.name = "bash"});
  put({.pid = kSecond, .parent = kFirst, .cpu_s = 0.9, .run_s = 0.9});
  give_pids_up_to(kSecond);
  sample();
  end(kSecond);
  put({.pid = kThird, .parent = kFirst, .cpu_s = 0.7, .run_s = 0.7});
  give_pids_up_to(kThird);
  sample();
  expect("main", 1.6, 0, 0.4);
}

TEST_F(JobThreads, end_when_the_job_did) {
  start({.cpu_s = 0.5, .run_s = 0.5});
  sample();
  end_job(0.7, 0.5);
  source_->sample_last();
  expect("main", 0.7, 0, 0.8);
}

TEST_F(JobThreads, of_a_job_that_ended_at_once_are_known) {
  start({.cpu_s = 0.1, .run_s = 0.1});
  end_job(0.2, 0.5);
  source_->sample_last();
  expect("main", 0.2, 0, 0.3);
}

TEST_F(JobThreads, have_no_closing_value_if_the_end_was_not_seen) {
  start({.cpu_s = 0.5, .run_s = 0.5});
  sample();
  end(kFirst);
  now_ns_ += kNsPerSecond;
  source_->sample_last();
  EXPECT_FALSE(source_->value(time_of("main", "running")));
  EXPECT_FALSE(source_->value("job.thread.blocked{on=other;role=main}"));
}

TEST_F(JobThreads, of_an_attached_job_count_from_now_on) {
  put({.cpu_s = 500, .run_s = 400, .wait_s = 9});
  put({.pid = kSecond, .parent = kFirst, .name = "pt_data_worker", .cpu_s = 70, .run_s = 70});
  give_pids_up_to(kSecond);
  job_.first_pid = kFirst;
  job_.reaper_pid = 0;
  open();
  sample(0);
  expect("main", 0, 0, 0);
  put({.cpu_s = 500, .run_s = 400.25, .wait_s = 9});
  sample();
  expect("main", 0.25, 0, 0.75);
  expect("worker0", 0, 0, 1);
}

TEST_F(JobThreads, of_an_attached_job_that_ended_at_once_are_unknown) {
  put({.cpu_s = 500, .run_s = 400});
  job_.first_pid = kFirst;
  job_.reaper_pid = 0;
  open();
  sample(0);
  end(kFirst);
  source_->sample_last();
  EXPECT_FALSE(source_->value(time_of("main", "running")));
}

TEST_F(JobThreads, continue_after_a_restart_of_the_recorder) {
  start({.cpu_s = 0.5, .run_s = 0.5});
  put({.pid = kSecond, .parent = kFirst, .name = "pt_data_worker", .cpu_s = 0.9, .run_s = 0.9});
  give_pids_up_to(kSecond);
  sample();
  put({.cpu_s = 1.5, .run_s = 1.5});
  open();
  sample(4);
  expect("main", 1.5, 0, 3.5);
  expect("worker0", 0.9, 0, 4.1);
}

TEST_F(JobThreads, are_absent_while_their_file_is_torn_and_exact_afterwards) {
  start({.cpu_s = 0.5, .run_s = 0.5});
  sample();
  root_.write("/proc/100/schedstat", "7000 8");
  sample();
  EXPECT_FALSE(source_->value(time_of("main", "running")));
  put({.cpu_s = 1.5, .run_s = 1.5});
  sample();
  expect("main", 1.5, 0, 1.5);
}

TEST_F(JobThreads, continue_after_a_lack_of_descriptors) {
  start({.cpu_s = 0.5, .run_s = 0.5});
  sample();
  {
    const NoFreeDescriptors limit;
    sample();
    expect("main", 0.5, 0, 1.5);
  }
  put({.cpu_s = 1.5, .run_s = 1.5});
  sample();
  expect("main", 1.5, 0, 1.5);
}

TEST_F(JobThreads, have_a_reason_for_a_delay_that_is_always_0) {
  root_.write("/proc/sys/kernel/task_delayacct", "0\n");
  open();
  EXPECT_EQ(source_->missing("job.thread.delay"),
            "kernel.task_delayacct is 0: the kernel does not measure it | "
            "sudo sysctl kernel.task_delayacct=1, before the job starts");
  EXPECT_FALSE(source_->has("job.thread.delay{role=main}"));
}

TEST_F(JobThreads, have_a_reason_where_the_kernel_does_not_count) {
  root_.remove("/proc/self/schedstat");
  open();
  EXPECT_EQ(source_->missing("job.thread.time"),
            "this kernel does not measure the waiting time of threads | "
            "a kernel with CONFIG_SCHED_INFO");
  EXPECT_EQ(source_->sample(), Sampled::ok);
}

}  // namespace job_threads_test

}  // namespace trainscope
