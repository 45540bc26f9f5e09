// The end of a run: its last samples, its manifest, and processes that stay behind.
//
// Guarantees: nothing here blocks for long or changes the outcome of the job. Only child processes
// access the run folder: if its file system hangs, one of them stays and completes the run when it
// responds again, so that nothing is lost. Reading the run back has limits on time and memory.
#pragma once

#include <string>
#include <vector>

#include "record/supervise/output.h"
#include "record/supervise/recorder_monitor.h"
#include "record/supervise/supervisor.h"

namespace trainscope {

struct RunToClose {
  std::string run_path;
  Manifest& manifest;
  SharedMemory memory;
  int lifeline_fd = -1;  // open in every process that may close the run
  bool wants_printed_steps = false;
  std::vector<std::string> keep = {};  // patterns of --keep
  bool is_end_stored = true;  // set by close_run: false if the last manifest could not be written
};

// Closes the run of a job that ended so. False when the run folder does not respond, and the run is
// completed in the background, and for a job that could not be executed, whose run is removed.
bool close_run(RunToClose& run, Supervisor& supervisor, RecorderMonitor& monitor,
               const JobEnd& end);

// The same by the recorder, when the supervisor was killed.
void close_run_alone(RunToClose& run, bool is_sealed);

// A daemon of the job still has our pipe or pty open: a small process stays and passes its output
// on, as the pipe or terminal would do without Trainscope.
void leave_relay_behind(OutputPlan& output, Supervisor& supervisor, SharedMemory memory,
                        UniqueFd& lifeline);

}  // namespace trainscope
