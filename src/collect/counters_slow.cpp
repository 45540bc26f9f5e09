// counters_slow: numbers from the files given with --counter, on mounts that may hang.
//
// Source, units, permission, caveats: as for counters, for files on NFS, Lustre, SMB, 9p, FUSE and
// the like (from /proc/self/mountinfo). Cost: depends on the mount, on its own thread; the pause is
// at least as long as the reading took, to spare a slow server.
#include "base/clock.h"
#include "collect/collect.h"
#include "collect/support/counters/counter_files.h"

namespace trainscope::counters_slow_collector {

extern const Collector entry;
const Collector entry = {
    .name = "counters_slow",
    .summary = "the same (counter.NAME) for files on network and FUSE mounts, off the tick",
    .needs = "--counter",
    .scope = Scope::job,
    .pace = Pace::thread,
    .period_ns = kNsPerSecond / 100,
    .rest_factor = 1,
    .metrics = kCounterMetrics,
    .make =
        [] {
          return std::unique_ptr<Source>(
              std::make_unique<CounterFiles>(CounterFiles::MountKind::slow_mounts));
        },
};

}  // namespace trainscope::counters_slow_collector
