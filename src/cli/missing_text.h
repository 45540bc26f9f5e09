// What cannot be measured, as `doctor` lists it: metrics and limits.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"

namespace trainscope {

// Those that are missing for the same reason in one line, with what would help below it. `Missing`
// has name, reason and remedy.
template <typename Missing>
std::string missing_text(const std::vector<Missing>& missing) {
  std::string out;
  for (size_t i = 0; i < missing.size(); ++i) {
    const auto is_same = [&](const Missing& other) {
      return other.reason == missing[i].reason && other.remedy == missing[i].remedy;
    };
    if (std::any_of(missing.begin(), missing.begin() + static_cast<long>(i), is_same)) continue;
    std::vector<std::string> names;
    for (const Missing& other : missing) {
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

}  // namespace trainscope
