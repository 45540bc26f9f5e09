// Stops of the job, by Ctrl-Z or a signal, as events.
#pragma once

#include <sys/types.h>

#include <string>

#include "record/sample/shared.h"

namespace trainscope {

class JobStops {
 public:
  explicit JobStops(SharedMemory memory) : memory_(memory), last_(memory->job_stop_signal) {}

  // The text of an event if the job was stopped or continued since the last call, or nothing.
  std::string take_change();

 private:
  SharedMemory memory_;
  int last_;
};

// A supervisor that has stopped with the job cannot see that the job alone was continued, or
// killed: continues it then. To be called now and then while `supervisor_has_stopped`, by a child
// of it.
void continue_supervisor(const Shared& memory, pid_t supervisor);

}  // namespace trainscope
