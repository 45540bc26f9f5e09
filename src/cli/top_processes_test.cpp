#include "cli/top_processes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/clock.h"
#include "testing/fake_run.h"
#include "testing/test_root.h"

namespace trainscope {

namespace top_processes_test {

constexpr pid_t kSupervisor = 50, kRecorder = 51, kJob = 100, kWorker = 101;

struct FakeJobProcess {
  pid_t pid = kJob, parent = kSupervisor;
  std::string name = "python3", command = std::string("/usr/bin/python3\0train.py\0", 26);
  int64_t cpu_ticks = 0, start_ticks = 900, pages = 256;
  char state = 'S';
};

class TopProcessesTest : public testing::Test {
 protected:
  TopProcessesTest() {
    give_pids_up_to(200);
    put({.pid = kSupervisor, .parent = 1, .name = "trainscope", .start_ticks = 800});
    put({.pid = kRecorder, .name = "trainscope-rec", .start_ticks = 801});
    put({});
    place_ = {true, "gpu7", "boot", kSupervisor, 800, JobProcess{kJob, 900, 77}};
  }
  void give_pids_up_to(pid_t last) const {
    root_.write("/proc/loadavg", fmt::format("0.00 0.00 0.00 1/100 {}\n", last));
  }
  void put(const FakeJobProcess& p) const {
    const std::string folder = fmt::format("/proc/{}/", p.pid);
    root_.write(folder + "stat",
                fmt::format("{} ({}) {} {} 1 1 0 -1 0 9 0 0 0 {} 0 0 0 20 0 3 0 {} 1000 {} 1\n",
                            p.pid, p.name, p.state, p.parent, p.cpu_ticks, p.start_ticks, p.pages));
    root_.write(folder + "status", fmt::format("Name:\tx\nTgid:\t{}\n", p.pid));
    root_.write(folder + "comm", p.name + "\n");
    root_.write(folder + "cmdline", p.command);
  }
  void end(pid_t pid) const { root_.remove(fmt::format("/proc/{}", pid)); }

  TopProcesses read(const std::string& filter = "") {
    now_ns_ += kNsPerSecond;
    return reader_.read(place_, filter, now_ns_);
  }
  std::string pids(const std::string& filter = "") {
    std::string text;
    for (const ProcessRow& row : read(filter).rows) text += fmt::format("{};", row.pid);
    return text;
  }

  TestRoot root_;
  JobPlace place_;
  int64_t now_ns_ = 10 * kNsPerSecond;
  JobProcessReader reader_{root_.path(), {"boot", 77}};
};

TEST_F(TopProcessesTest, are_those_below_the_supervisor_that_are_not_its_own) {
  put({.pid = 40, .name = "before", .start_ticks = 700});  // of the shell that became it
  put({.pid = 41, .parent = 40, .name = "below", .start_ticks = 950});
  put({.pid = 52, .parent = kRecorder, .name = "trainscope-gpu", .start_ticks = 802});
  put({.pid = 53, .name = "trainscope-rec", .start_ticks = 990});  // it was restarted
  put({.pid = 60, .parent = 1, .name = "foreign", .start_ticks = 990});
  put({.pid = kWorker, .parent = kJob, .start_ticks = 910});
  put({.pid = 102, .parent = kSupervisor, .name = "orphan", .start_ticks = 920});
  EXPECT_EQ(pids(), "100;101;102;");
}

TEST_F(TopProcessesTest, have_their_numbers_and_the_busiest_is_first) {
  put({.cpu_ticks = 1000, .pages = 512});
  put({.pid = kWorker, .parent = kJob, .name = "pt_data_worker", .cpu_ticks = 5, .state = 'D'});
  TopProcesses job = read();
  ASSERT_EQ(job.rows.size(), 2U);
  EXPECT_EQ(job.rows[0].pid, kJob);  // it has used most
  EXPECT_EQ(job.rows[0].cpu, "");
  put({.cpu_ticks = 1010});
  const auto second = static_cast<int64_t>(::sysconf(_SC_CLK_TCK));
  put({.pid = kWorker,
       .parent = kJob,
       .name = "pt_data_worker",
       .cpu_ticks = 5 + second / 2,
       .state = 'D'});
  job = read();
  ASSERT_EQ(job.rows.size(), 2U);
  EXPECT_EQ(job.rows[0].pid, kWorker);
  EXPECT_EQ(job.rows[0].role, "worker");
  EXPECT_EQ(job.rows[0].cpu, "50%");
  EXPECT_EQ(job.rows[0].state, "disk wait");
  EXPECT_EQ(job.rows[0].command, "pt_data_worker (python3 train.py)");
  EXPECT_EQ(job.rows[1].role, "main");
  EXPECT_EQ(job.rows[1].cpu, "10%");
  EXPECT_EQ(job.rows[1].threads, "3");
  EXPECT_EQ(job.rows[1].state, "sleeping");
  EXPECT_EQ(job.rows[1].command, "python3 train.py");
}

TEST_F(TopProcessesTest, a_copy_of_the_job_is_not_main_before_it_may_have_handed_over_a_batch) {
  put({.pid = kWorker, .parent = kJob, .cpu_ticks = 500});
  const auto main_pid = [&] {
    for (const ProcessRow& row : read().rows) {
      if (row.role == "main") return static_cast<pid_t>(row.pid);
    }
    return pid_t{0};
  };
  EXPECT_EQ(main_pid(), kJob);
  for (int second = 0; second < 10; ++second) (void)read();
  EXPECT_EQ(main_pid(), kWorker);
}

TEST_F(TopProcessesTest, that_join_and_leave_are_seen) {
  EXPECT_EQ(pids(), "100;");
  put({.pid = 201, .parent = kJob, .start_ticks = 990});
  give_pids_up_to(201);
  EXPECT_EQ(pids(), "100;201;");
  put({.pid = 201, .parent = kJob, .start_ticks = 990, .state = 'Z'});
  EXPECT_EQ(pids(), "100;");
}

TEST_F(TopProcessesTest, a_later_process_with_the_pid_of_the_job_is_not_shown) {
  place_.supervisor_pid = 0;
  EXPECT_EQ(pids(), "100;");
  put({.start_ticks = 5000});
  const TopProcesses none = read();
  EXPECT_TRUE(none.rows.empty());
  EXPECT_FALSE(none.are_living);
  EXPECT_EQ(none.no_rows, "the job's processes have ended or cannot be seen");
}

TEST_F(TopProcessesTest, without_a_supervisor_are_those_below_the_first) {
  put({.pid = kWorker, .parent = kJob});
  EXPECT_EQ(pids(), "100;101;");
  end(kSupervisor);
  EXPECT_EQ(pids(), "100;101;");
}

TEST_F(TopProcessesTest, of_others_are_never_shown) {
  const auto reason = [&] {
    const TopProcesses none = read();
    EXPECT_TRUE(none.rows.empty());
    EXPECT_FALSE(none.are_living);
    return none.no_rows;
  };
  JobPlace here = place_;
  place_.boot_id = "another";
  EXPECT_EQ(reason(), "the job runs on another machine (gpu7); its processes can be seen there");
  place_ = here;
  place_.first->pid_namespace = 78;
  EXPECT_NE(reason().find("another container"), std::string::npos);
  place_ = here;
  place_.first.reset();
  EXPECT_NE(reason().find("does not state"), std::string::npos);
  place_ = here;
  place_.is_running = false;
  EXPECT_EQ(reason(), "the job has ended");
  place_ = here;
  EXPECT_EQ(pids(), "100;");
}

TEST_F(TopProcessesTest, are_filtered_by_words_and_limited) {
  for (pid_t pid = 110; pid < 180; ++pid) {
    put({.pid = pid, .parent = kJob, .name = fmt::format("loader{}", pid)});
  }
  EXPECT_EQ(read().rows.size(), 50U);
  EXPECT_EQ(read().left_out, 21U);
  EXPECT_EQ(pids("LOADER 150"), "150;");
  const TopProcesses none = read("zzz");
  EXPECT_TRUE(none.are_living);
  EXPECT_EQ(none.no_rows, "no process matches 'zzz'; escape removes the filter");
}

TEST_F(TopProcessesTest, are_read_at_most_once_per_second) {
  (void)read();
  put({.state = 'R'});
  EXPECT_EQ(reader_.read(place_, "", now_ns_ + kNsPerSecond / 2).rows.at(0).state, "sleeping");
  EXPECT_EQ(reader_.read(place_, "", now_ns_ + kNsPerSecond).rows.at(0).state, "running");
}

TEST_F(TopProcessesTest, have_no_secrets_in_their_commands) {
  put({.command = std::string("python3\0train.py\0--api-key\0hunter2\0", 35)});
  EXPECT_EQ(read().rows.at(0).command, "python3 train.py --api-key '***'");
}

TEST(JobPlaceTest, of_an_attached_run_has_no_supervisor_above_the_job) {
  FakeRun run(0.1, 10);
  run.set_status(RunStatus::running);
  run.own_manifest().supervisor_pid = 5;
  run.own_manifest().supervisor_start_ticks = 6;
  run.add_event({0, std::string(kJobProcessEvent), "pid 8, start 9, PID namespace 7"});
  EXPECT_EQ(job_place(run).supervisor_pid, 5);
  EXPECT_EQ(job_place(run).first, (JobProcess{8, 9, 7}));
  EXPECT_TRUE(job_place(run).is_running);
  run.own_manifest().attached = true;
  EXPECT_EQ(job_place(run).supervisor_pid, 0);
}

}  // namespace top_processes_test

}  // namespace trainscope
