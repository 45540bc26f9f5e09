// Checks every source on this machine, for `doctor`.
//
// Guarantees: a source that hangs costs its deadline, not the program. Limits: no job, so the job's
// sources examine this process.
#pragma once

#include <string>
#include <vector>

#include "collect/collect.h"

namespace trainscope {

struct CheckedMetric {
  std::string name, reason, remedy;
};

struct CheckedSource {
  std::string name, summary;
  std::string status;  // ok, partial, unavailable
  std::string reason, remedy;
  std::vector<std::string> metrics;    // that gave a value
  std::vector<CheckedMetric> missing;  // with the reason of each
};

// Opens the source and takes two samples.
CheckedSource check_source(const Collector& collector, const SourceContext& context);
// The same within `deadline_ns`; a source that takes longer is unavailable.
CheckedSource check_source_within(const Collector& collector, const SourceContext& context,
                                  int64_t deadline_ns);

}  // namespace trainscope
