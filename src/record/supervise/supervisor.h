// The supervisor: starts the job, passes its output and signals on, returns its outcome.
//
// Guarantees: the job's process group, session, terminal and stdin are unchanged; a signal that the
// job has already is not sent twice; if the supervisor is killed, the job continues. Limits:
// single-threaded; an orphan of a child that we had before the run cannot be distinguished from the
// job's.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernel/process_handle.h"
#include "record/record.h"
#include "record/supervise/launch.h"
#include "record/supervise/output.h"
#include "record/supervise/recorder_monitor.h"
#include "record/supervise/screen_process.h"
#include "record/supervise/signal_inbox.h"
#include "record/supervise/signal_witness.h"
#include "record/supervise/status_line.h"

namespace trainscope {

struct JobEnd {
  std::optional<int> exit_code, signal;
  EndedBy ended_by = EndedBy::unknown;
  int64_t ended_ns = 0;
};

class Supervisor {
 public:
  Supervisor(SharedMemory memory, OutputPlan& output, SignalInbox& signals,
             RecorderMonitor& monitor, StatusLine& status, int log_write_fd);

  // Children that we had before the run (of a shell that became us, of the run before in a series):
  // they are reaped, and neither counted nor killed.
  void ignore_children(std::vector<pid_t> children) { ignored_children_ = std::move(children); }
  // A screen that covers the terminal while the job runs; it outlives the supervisor.
  void set_screen(ScreenProcess& screen) { screen_ = &screen; }
  // Starts a command and stays with it until its first process ends, at most `for_ns` (0: no
  // limit).
  JobEnd run(const std::vector<std::string>& command,
             const std::map<std::string, std::string>& environment, int64_t for_ns,
             int64_t grace_ns);
  // Stays with a process that is not our child; `process` names it.
  JobEnd follow(pid_t pid, const ProcessHandle& process, int64_t for_ns);
  // Passes on the job's output so far; waits at most this long for a slow reader.
  void drain_output(int patience_ms = 2000);
  // Counts the output that is not passed on yet and that the log will not get.
  void note_unlogged_output();
  // True when somebody can still write into the job's output.
  bool output_is_open() const;
  void print_message(const std::string& text);

 private:
  struct PendingForward {
    int number = 0;
    int64_t arrived_ns = 0;
  };
  void poll_once(int extra_fd);
  void handle_signal(const SignalNote& note);
  void forward_pending();
  void send_to_own_group(int number);
  void reap_children();
  void note_first_end(int64_t ended_ns);
  void account(pid_t pid);
  void mirror_stop(int stop_signal);
  void enforce_limit();
  void pump_output();
  void show_messages();
  int64_t next_moment() const;
  bool at_line_start() const;
  bool is_covered() const { return screen_ != nullptr && screen_->is_shown(); }
  void uncover();

  SharedMemory memory_;
  OutputPlan& output_;
  SignalInbox& signals_;
  RecorderMonitor& monitor_;
  StatusLine& status_;
  ScreenProcess* screen_ = nullptr;
  int log_write_fd_;
  pid_t job_pid_ = 0;
  std::vector<pid_t> ignored_children_;
  bool is_child_ = true;
  bool interrupted_ = false;
  std::optional<JobEnd> end_;
  std::vector<PendingForward> pending_;
  SignalWitness witness_;
  int64_t limit_at_ns_ = 0, kill_at_ns_ = 0, grace_ns_ = 0;
  bool limit_reached_ = false;
  int64_t monitor_at_ns_ = 0, status_at_ns_ = 0, stop_key_ns_ = 0;
  uint32_t message_shown_ = 0;
};

}  // namespace trainscope
