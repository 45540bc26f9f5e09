#include "cli/limits_text.h"

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "cli/missing_text.h"

namespace trainscope {

std::string limits_text(const MachineLimits& limits) {
  std::string out;
  for (const Limit& limit : limits.limits) {
    out += fmt::format("{:<16} {:<33} {:<15} {}; {}\n", out.empty() ? "limits" : "",
                       printable(limit.name), limit_text(limit.value, limit.unit),
                       printable(limit.how), printable(measured_date(limit.measured)));
  }
  if (out.empty() && !limits.missing.empty()) out = "limits\n";
  return out + missing_text(limits.missing);
}

void add_limits(const MachineLimits& limits, OrderedJson& document) {
  document["limits"] = limit_list_json(limits.limits);
  document["limits_missing"] = missing_limits_json(limits.missing);
}

}  // namespace trainscope
