// All sources of training progress: the pipe, event files, printed lines.
//
// Two threads of the recorder, one for the pipe and one for event files, which may be on a file
// system that hangs; the thread that stores the output passes printed lines. Guarantees: finish()
// takes the last reports of the job and returns soon, whatever hangs.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/fd.h"
#include "kernel/process_tree.h"
#include "record/intake/event_files.h"
#include "record/intake/printed.h"
#include "record/intake/progress.h"
#include "record/intake/steps_guess.h"

namespace trainscope {

class ProgressSources {
 public:
  struct Setup {
    int pipe_fd = -1;
    std::vector<std::string> tensorboard;
    std::string steps_from;
    const JobProcesses* job = nullptr;
    std::function<void()> on_half_full;                       // the ring is half full
    std::function<void(const std::string& text)> event_sink;  // of event files
    std::string unseen_output = {};  // why printed lines are not seen; empty: they are
    std::chrono::milliseconds event_files_limit{500};  // for the remaining event files at the end
    std::function<void(const std::string& text)> note_sink = {};  // kProgressNote
  };
  ProgressSources(Ring& ring, SharedMemory memory, Setup setup);
  // Waits for a thread that hangs, too; the recorder ends without it.
  ~ProgressSources();

  void start();
  // Bytes of one stream of the job's output, which came at this time (CLOCK_MONOTONIC); called by
  // one thread, which also calls the next.
  void observe_output(size_t stream, std::string_view bytes, int64_t time_ns);
  void finish_output();
  void finish();

 private:
  void read_pipe();
  void back_off();
  void wait_for_room(std::chrono::milliseconds pause);
  void wait_for_room_of_output();
  void follow_event_files();
  void look_at_event_files(JobMembers& job, SearchSchedule& open_files);
  // True when the job has ended.
  bool wait_for_end_of_events(int64_t until_ns);
  void count_searched(PrintedSteps& printed);
  void explain_missing_steps();
  int64_t since_zero_ns() const;

  Ring& ring_;
  SharedMemory memory_;
  Setup setup_;
  ProgressSink sink_;
  ProgressPipe pipe_;
  EventFiles event_files_;
  MatchingBudget budget_;
  StepsGuess guess_;
  std::vector<std::unique_ptr<PrintedSteps>> printed_;  // one per stream of output
  UniqueFd pipe_wake_;
  std::atomic<bool> pipe_over_ = false;
  std::thread pipe_thread_, events_thread_;
  std::mutex mutex_;
  std::condition_variable wake_events_, events_ended_;
  bool events_over_ = false, events_done_ = false;
  int64_t look_ns_ = 0;  // when to read event files next
  std::atomic<bool> has_event_files_ = false;
};

}  // namespace trainscope
