// Is a run being recorded, here or elsewhere?
//
// Guarantees: on the kernel that records it, in another container too, the answer is exact: the
// supervisor's process, or whoever has the run's pipe open. Limits: on another host only the age of
// its files tells, and a network file system shows them late; a recording that was suspended there
// looks like one that ended.
#pragma once

#include <cstdint>
#include <string>

#include "model/model.h"

namespace trainscope {

enum class Liveness {
  ended,             // its end is recorded, or nobody can be recording it any more
  here,              // a process of this kernel has it
  elsewhere,         // another host wrote to it a short while ago
  silent_elsewhere,  // another host began it and recorded no end; it has written nothing for long
};

// Where a run is looked at from; tests give their own.
struct Observer {
  std::string host_name, boot_id;
  static Observer ours();
};

Liveness liveness(const std::string& run_path, const Manifest& manifest,
                  const Observer& observer = Observer::ours());
// The same of a run whose manifest cannot be read.
Liveness liveness_without_manifest(const std::string& run_path);

}  // namespace trainscope
