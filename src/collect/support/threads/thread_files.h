// The kernel's files of a process's threads, kept open.
//
// An open file stays with its thread: after the thread has ended it cannot be read, and never shows
// another one with the same id. Limits: one reader at a time; at most kMostThreads threads of a
// process are followed, so that descriptors and time have a bound.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "collect/support/threads/role_time.h"
#include "kernel/proc_file.h"
#include "kernel/process_tree.h"

namespace trainscope {

enum class ThreadState { alive, ended, unreadable };

// The first thread of a process: the state, the delay and the number of threads are in the
// process's stat.
class FirstThread {
 public:
  Status open(const std::string& root, pid_t pid);
  void close();
  bool is_open() const { return schedstat_.is_open(); }
  // Fills both if the thread is alive. A thread that slept since the last reading has the same
  // stat, except for what other threads of its process change: `is_alone` if that does not matter.
  ThreadState read(ProcessStat& stat, ThreadReading& reading, bool is_alone = false);
  // The state that stands for what the thread waits for. A wait for a file system that a process
  // serves (FUSE) can be interrupted, other waits for files cannot: both are 'D'.
  char wait_state(char state);
  // The kernel does not show where this thread waits: it was asleep each time and nowhere.
  bool hides_waits() const { return hidden_waits_ >= kHiddenWaits; }

 private:
  // A thread may wake up between two files, but not that often in a row.
  static constexpr int kHiddenWaits = 10;

  ProcFile stat_, schedstat_, wait_channel_;
  ProcessStat last_stat_;
  ThreadTimes last_times_;
  int hidden_waits_ = 0;  // in a row
};

// All other threads of one process.
class OtherThreads {
 public:
  static constexpr int64_t kMostThreads = 64;  // of the process, its first one included

  struct Thread {
    pid_t tid = 0;
    ProcFile schedstat;
    ThreadReading before, now;
    bool is_new = true;  // it has no `before` yet
    bool is_pin = false;
    bool has_ended = false;
    int64_t ran_ns() const { return now.times.run_ns - before.times.run_ns; }
  };

  // pid 0: none. Another process than before: its threads are found with the next read.
  void follow(const std::string& root, pid_t pid);
  // Reads every thread; `count` is how many the process has.
  void read(int64_t count, const std::function<int64_t()>& now_ns);
  bool are_too_many() const { return are_too_many_; }
  // The thread that ran most between the last two readings, and the one that pins memory. Null if
  // there is none that was read twice.
  const Thread* busiest() const;
  const Thread* pin() const;

 private:
  void find(const std::function<int64_t()>& now_ns);
  void add(pid_t tid, const std::function<int64_t()>& now_ns);
  void look_at(Thread& thread);

  std::string root_;
  pid_t pid_ = 0;
  bool are_too_many_ = false;
  int64_t count_ = 0;  // of the process when all of its threads were known; 0: never
  std::vector<Thread> threads_;
};

}  // namespace trainscope
