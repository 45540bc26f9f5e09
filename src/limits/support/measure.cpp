#include <algorithm>

#include "kernel/host_name.h"
#include "limits/limits.h"

namespace trainscope {

Result<MachineLimits> measure_limits(const MeasureOptions& options) {
  std::vector<const LimitKind*> wanted;
  for (const LimitKind* kind : limit_kinds()) {
    const bool is_wanted =
        options.only.empty() ||
        std::find(options.only.begin(), options.only.end(), kind->name) != options.only.end();
    if (is_wanted) wanted.push_back(kind);
  }
  for (const LimitKind* kind : wanted) {
    if (kind->check != nullptr) TS_CHECK_OK(kind->check(options));
  }
  MachineLimits found;
  found.host = host_name();
  found.machine = machine_kind(processor_model(""), online_processors());
  for (const LimitKind* kind : wanted) TS_CHECK_OK(kind->measure(options, found));
  const std::string now = utc_text(realtime_ns());
  for (Limit& limit : found.limits) limit.measured = now;
  return found;
}

}  // namespace trainscope
