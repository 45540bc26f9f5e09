// counters: numbers from the files that --counter names.
//
// Source: any regular file, text or binary (docs/guide/counters.md has the grammar). Units: as
// given. Permission: to read the file. Cost: a stat and two preads a file, 3 µs, and what cutting
// its text takes; patterns are looked at again once a second.
// Caveats: files on network mounts are read by counters_slow. A file that takes more than 5 ms to
// read, five times in a row, is rested for twenty times as long. d counts from the first value that
// this recorder read: a restarted recorder begins anew. A natural number above 2^63 - 1 is absent.
#include "collect/collect.h"
#include "collect/support/counter_files.h"

namespace trainscope {

extern const Collector counters_collector;
const Collector counters_collector = {
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

}  // namespace trainscope
