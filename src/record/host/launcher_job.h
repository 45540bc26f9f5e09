// The launcher's job that a rank belongs to, as a short text that all of its ranks share.
//
// Guarantees: at most kMaxJobBytes of letters, digits and `-_.:@+=`, whatever the variables
// contain. Limits: a launcher without an id (torchrun without --rdzv-id, a script that only sets
// RANK) is told apart by what it started: then ranks on different hosts do not share the text.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "record/host/variables.h"
#include "record/record.h"

namespace trainscope {

inline constexpr size_t kMaxJobBytes = 40;

// A process as no other one of its machine is ever described.
struct LauncherProcess {
  std::string boot_id;
  pid_t pid = 0;
  int64_t start_ticks = 0;
};

struct LauncherJob {
  std::string id;  // "slurm-4711.0", "torchrun-x81"; empty without a launcher, and for one rank
  int64_t restart = 0;  // how often the launcher has started it again
};
// `parent` started the rank; it is used if no variable identifies the job.
LauncherJob launcher_job(const Variables& variables, const Rank& rank,
                         const LauncherProcess& parent);

}  // namespace trainscope
