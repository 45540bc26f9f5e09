// The recorder process, `trainscope-rec`: samples, writes, observes signals, and passes the output
// on if the supervisor has ended.
#pragma once

#include <functional>

#include "collect/collect.h"
#include "model/manifest.h"
#include "record/sample/clock_watch.h"
#include "record/sample/shared.h"
#include "record/supervise/output.h"

namespace trainscope {

// Data that a recorder inherits from the supervisor by fork.
struct RecorderSetup {
  SharedMemory memory;
  std::string run_path;
  Manifest manifest;
  std::string working_directory;
  std::vector<std::string> command;
  SourceOptions source_options;
  std::vector<std::string> tensorboard;
  std::string steps_from;
  std::vector<std::string> keep;  // patterns of --keep, for a run that this process closes
  OutputPlan* output = nullptr;
  pid_t supervisor_pid = 0;
  std::vector<pid_t> others;  // children that the supervisor had before the run
  int wake_fd = -1;           // eventfd: something in the shared memory has changed
  int ready_fd = -1;          // eventfd: the first sample is taken
  int lifeline_fd = -1;       // read end of a pipe that closes when the supervisor ends
  int log_fd = -1;            // read end of the copy of the output
  int progress_fd = -1;       // the FIFO of TRAINSCOPE_PIPE
  int64_t period_ns = 0;
  bool records_machine = true;
  bool reaps_orphans = true;  // false when attached
  bool publishes_status = false;
  std::string restart_reason;  // why the previous recorder ended
  std::function<ClockReading()> read_clocks = ClockReading::now;
};

// Runs until the run is over; never returns.
[[noreturn]] void run_recorder(RecorderSetup setup);

}  // namespace trainscope
