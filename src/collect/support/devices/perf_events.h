// Counters of the kernel's perf subsystem, opened for counting only.
//
// Guarantees: a counter that the processor had to share is scaled to the whole time (time enabled /
// time running) and never goes backwards. Limits: the errno of a failed open is the only reason
// available.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace trainscope {

struct PerfKind {
  uint32_t type = 0;
  uint64_t config = 0;
  bool follows_first = false;  // counted together with the first one, so that their ratio is exact
};

// On whom, and from when on.
enum class PerfStart {
  at_once,  // from now on
  at_exec,  // each child of it, from its exec on; itself never: it does not exec
};

struct PerfValue {
  double count = 0;  // scaled
  int64_t enabled_ns = 0, running_ns = 0;
};

// One event on one thread and all that it will start. `leader`: counted together with that one.
Result<UniqueFd> open_perf_event(const PerfKind& kind, pid_t thread, PerfStart start,
                                 bool user_only, int leader = -1);
// Nothing when it cannot be read or has not run at all.
std::optional<PerfValue> read_perf_event(int fd);

// Why an event cannot be opened, and a remedy.
struct PerfRefusal {
  std::string reason, remedy;
};
PerfRefusal explain_perf_error(int error_number, bool hardware, const std::string& root);

}  // namespace trainscope
