// For tests: the processes of a job and their threads as files, and the source job_threads on them.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "collect/support/opened_source.h"

namespace trainscope {

namespace job_threads_collector {
extern const Collector entry;
}

inline constexpr pid_t kReaper = 50, kFirst = 100, kSecond = 101, kThird = 102;
inline const std::string kPython = std::string("python3\0train.py\0", 17);

inline std::string time_of(const std::string& role, const std::string& state) {
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
  // It has handed over memory: Python's resource sharer listens in it.
  void put_resource_sharer(pid_t pid) const {
    const std::string folder = fmt::format("/proc/{}/", pid);
    root_.write(
        folder + "net/unix",
        "Num       RefCount Protocol Flags    Type St Inode Path\n"
        "0000000000000000: 00000002 00000000 00010000 0001 01 76 /run/other\n"
        "0000000000000000: 00000002 00000000 00010000 0001 01 77 /tmp/pymp-ab/listener-cd\n");
    std::filesystem::create_directories(root_.at(folder + "fd"));
    std::filesystem::create_symlink("socket:[77]", root_.at(folder + "fd/5"));
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

  void open() { source_.emplace(job_threads_collector::entry, root_.path(), context_); }
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

}  // namespace trainscope
