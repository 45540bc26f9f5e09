#include "cli/limits_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "base/text.h"

namespace trainscope {

namespace {

constexpr size_t kDateLength = 10;  // 2026-11-16

// Limits that are missing for the same reason, as one line.
std::string missing_text(const std::vector<MissingLimit>& missing) {
  std::string out;
  for (size_t i = 0; i < missing.size(); ++i) {
    const auto is_same = [&](const MissingLimit& other) {
      return other.reason == missing[i].reason;
    };
    if (std::any_of(missing.begin(), missing.begin() + static_cast<long>(i), is_same)) continue;
    std::vector<std::string> names;
    for (const MissingLimit& other : missing) {
      if (is_same(other)) names.push_back(printable(other.name));
    }
    const size_t more = names.size() > 3 ? names.size() - 2 : 0;
    if (more > 0) names.resize(2);
    out += fmt::format("{:<16}   no {}{}: {}\n", "", fmt::join(names, ", "),
                       more > 0 ? fmt::format(" and {} more", more) : "",
                       printable(missing[i].reason));
    if (missing[i].remedy.empty()) continue;
    out += fmt::format("{:<16}      try: {}\n", "", printable(missing[i].remedy));
  }
  return out;
}

}  // namespace

std::string limits_text(const MachineLimits& limits) {
  std::string out;
  for (const Limit& limit : limits.limits) {
    out += fmt::format("{:<16} {:<33} {:<15} {}; {}\n", out.empty() ? "limits" : "",
                       printable(limit.name), limit_text(limit.value, limit.unit),
                       printable(limit.how), printable(limit.measured.substr(0, kDateLength)));
  }
  if (out.empty() && !limits.missing.empty()) out = "limits\n";
  return out + missing_text(limits.missing);
}

void add_limits(const MachineLimits& limits, OrderedJson& document) {
  document["limits"] = limit_list_json(limits.limits);
  document["limits_missing"] = missing_limits_json(limits.missing);
}

}  // namespace trainscope
