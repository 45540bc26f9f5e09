// counters: numbers from the files given with --counter.
//
// Source: any regular file, text or binary (docs/guide/counters.md has the grammar). Units: as
// given. Permission: to read the file. Cost: a stat and two preads per file, 3 µs, and the time to
// split its text; patterns are expanded again once per second. Caveats: files on network mounts are
// read by counters_slow. If a file takes more than 5 ms to read five times in a row, without waits
// for a CPU, it is skipped for twenty times as long. d counts from the first value that this
// recorder read: a restarted recorder starts again. An unsigned number above 2^63 - 1 is absent.
#include "collect/collect.h"
#include "collect/support/counters/counter_files.h"

namespace trainscope::counters_collector {

extern const Collector entry;
const Collector entry = {
    .name = "counters",
    .summary = "numbers from files given with --counter",
    .needs = "--counter",
    .scope = Scope::job,
    .pace = Pace::tick,
    .metrics = kCounterMetrics,
    .make =
        [] {
          return std::unique_ptr<Source>(
              std::make_unique<CounterFiles>(CounterFiles::MountKind::local_files));
        },
};

}  // namespace trainscope::counters_collector
