// Stops of the job, by Ctrl-Z or a signal, as events.
#pragma once

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

}  // namespace trainscope
