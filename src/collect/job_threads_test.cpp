#include <fmt/format.h>
#include <gtest/gtest.h>

#include "collect/support/opened_source.h"
#include "testing/descriptor_limit.h"

namespace trainscope {

extern const Collector job_threads_collector;

namespace {

constexpr pid_t kReaper = 50, kFirst = 100, kSecond = 101, kThird = 102;
const std::string kPython = std::string("python3\0train.py\0", 17);

std::string time_of(const std::string& role, const std::string& state) {
  return fmt::format("job.thread.time{{role={};state={}}}", role, state);
}

// A process, as its files show it.
struct FakeProcess {
  pid_t pid = kFirst, parent = kReaper;
  std::string name = "python3", command = "";
  double cpu_s = 0;  // of all threads
  double run_s = 0, wait_s = 0;
  char state = 'S';
  int threads = 1;
  int start_ticks = 900;
  int delay_ticks = 0;
};

class JobThreads : public testing::Test {
 protected:
  JobThreads() {
    root_.write("/proc/self/schedstat", "1 2 3\n");
    root_.write("/proc/sys/kernel/task_delayacct", "1\n");
    give_pids_up_to(kReaper);
    job_.reaper_pid = kReaper;
    job_.threads = &state_;
    job_.first_end = &first_end_;
    context_.job = &job_;
    context_.now_ns = [this] { return now_ns_; };
    context_.event_sink = [this](const std::string&, const std::string& text) {
      events_.push_back(text);
    };
  }

  void give_pids_up_to(pid_t last) const {
    root_.write("/proc/loadavg", fmt::format("0.00 0.00 0.00 1/100 {}\n", last));
  }
  static std::string times(double run_s, double wait_s) {
    return fmt::format("{:.0f} {:.0f} 9\n", run_s * 1e9, wait_s * 1e9);
  }
  void put(const FakeProcess& p) const {
    const std::string folder = fmt::format("/proc/{}/", p.pid);
    root_.write(folder + "stat",
                fmt::format("{} ({}) {} {} 1 1 0 -1 0 9 0 0 0 {:.0f} 0 0 0 20 0 {} 0 {} 1000 500 1 "
                            "1 1 0 0 0 0 0 0 0 0 0 0 17 0 0 0 {} 0 0\n",
                            p.pid, p.name, p.state, p.parent, p.cpu_s * 100, p.threads,
                            p.start_ticks, p.delay_ticks));
    root_.write(folder + "status", fmt::format("Name:\tx\nTgid:\t{}\n", p.pid));
    root_.write(folder + "cmdline", p.command);
    root_.write(folder + "schedstat", times(p.run_s, p.wait_s));
    put_thread(p.pid, p.pid, p.name, p.run_s);
  }
  void put_thread(pid_t pid, pid_t tid, const std::string& name, double run_s) const {
    const std::string folder = fmt::format("/proc/{}/task/{}/", pid, tid);
    root_.write(folder + "comm", name + "\n");
    root_.write(folder + "schedstat", times(run_s, 0));
  }
  // Its files, which are open, are empty, and new ones cannot be opened.
  void end(pid_t pid) const {
    for (const char* file : {"stat", "schedstat"}) {
      root_.write(fmt::format("/proc/{}/{}", pid, file), "");
    }
    root_.remove(fmt::format("/proc/{}", pid));
  }

  // The supervisor reaped the first process, half a second ago, after this much more time.
  void end_job(double run_s, double seconds) {
    end(kFirst);
    first_end_.pid = kFirst;
    first_end_.run_ns = static_cast<int64_t>(run_s * 1e9);
    first_end_.ended_ns = now_ns_ + static_cast<int64_t>(seconds * 1e9);
    now_ns_ += static_cast<int64_t>((seconds + 0.5) * 1e9);
  }

  void open() { source_.emplace(job_threads_collector, root_.path(), context_); }
  // One sample this much later; a new layout is taken as the recorder does.
  void sample(double seconds = 1) {
    now_ns_ += static_cast<int64_t>(seconds * 1e9);
    if (source_->sample() == Sampled::ok) return;
    source_->open();
    ASSERT_EQ(source_->sample(), Sampled::ok);
  }
  // The job begins after the first sample.
  void start(const FakeProcess& first) {
    open();
    sample(0);
    job_.first_pid = first.pid;
    put(first);
  }
  void expect(const std::string& role, double running, double runnable, double blocked) const {
    EXPECT_EQ(source_->value(time_of(role, "running")), running) << role;
    EXPECT_EQ(source_->value(time_of(role, "runnable")), runnable) << role;
    EXPECT_EQ(source_->value(time_of(role, "blocked")), blocked) << role;
  }

  TestRoot root_;
  JobLink job_;
  JobThreadState state_;
  JobFirstEnd first_end_;
  int64_t now_ns_ = 10 * kNsPerSecond;
  std::vector<std::string> events_;
  SourceContext context_;
  std::optional<OpenedSource> source_;
};

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

TEST_F(JobThreads, a_copy_of_a_python_process_is_a_worker_at_second_sight) {
  start({.command = kPython, .cpu_s = 0.1, .run_s = 0.1});
  put({.pid = kSecond, .parent = kFirst, .command = kPython, .cpu_s = 0.9, .run_s = 0.9});
  put({.pid = kThird, .parent = kFirst, .command = kPython, .cpu_s = 0.9, .run_s = 0.9});
  give_pids_up_to(kThird);
  sample();
  expect("main", 0.1, 0, 0.9);
  put({.pid = kThird, .parent = kFirst, .name = "git", .command = "git", .cpu_s = 0.9});
  sample();
  sample();
  expect("worker0", 0.9, 0, 2.1);
  EXPECT_FALSE(source_->has(time_of("worker1", "running")));
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

}  // namespace

}  // namespace trainscope
