// Keeps a recorder running: starts it, restarts it when it dies or hangs, closes it at the end.
//
// Guarantees: restarts back off from 0.1 to 10 s; a recorder that was stopped on purpose is not
// restarted; nothing here waits for a recorder longer than its limit, or accesses the run folder.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "record/sample/shared.h"

namespace trainscope {

// State of the recorder at the end of the run: everything is written; the folder could not take
// everything; it did not reply and was killed; it is still writing, because the folder does not
// respond, and continues alone.
enum class RecorderEnd { all_written, not_all_written, no_reply, still_writing };

// What the monitor needs to know of a recorder.
struct MonitoredRecorder {
  SharedMemory memory;
  int wake_fd = -1;            // eventfd: something in the shared memory has changed
  int ready_fd = -1;           // eventfd: the first sample is taken
  int lifeline_write_fd = -1;  // must be open in the supervisor alone
  int64_t period_ns = 0;
  // The recorder itself, in its process; does not return. `restart_reason`: why the previous one
  // ended, empty for the first.
  std::function<void(const std::string& restart_reason)> run;
};

class RecorderMonitor {
 public:
  explicit RecorderMonitor(MonitoredRecorder recorder) : recorder_(std::move(recorder)) {}

  Status start();
  // Waits for the first sample, at most a second; afterwards time has begun in any case.
  void wait_for_first_sample();
  pid_t pid() const { return pid_; }
  // The recorder, or one that was given up: killed, but blocked in the kernel.
  bool owns(pid_t pid) const;
  // After SIGCHLD: reaps the recorder when it has ended and plans the restart.
  void reap();
  // Restarts when it is time, kills a recorder that hangs. Returns when to look again (monotonic
  // ns).
  int64_t check();
  // Notifies the recorder that the shared memory has changed.
  void wake() const;
  // The run is over: waits until the recorder has written everything or hangs.
  RecorderEnd finish();

 private:
  std::string exit_reason() const;
  void plan_restart(int wait_status);
  bool wait_for_exit(int64_t limit_ns);
  bool wait_for_end();

  MonitoredRecorder recorder_;
  std::string restart_reason_;
  pid_t pid_ = 0;
  int64_t started_ns_ = 0;
  int64_t seen_stopped_ns_ = 0;
  int64_t killed_ns_ = 0;  // by us, because it hung
  std::vector<pid_t> given_up_;
  int64_t restart_at_ns_ = 0;
  int64_t backoff_ns_ = 100'000'000;
};

}  // namespace trainscope
