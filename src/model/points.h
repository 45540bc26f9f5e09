// The values of a series, and what is known of them without keeping them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace trainscope {

// One series over time. `present` has one entry per time; a value whose entry is false means
// nothing.
struct Points {
  std::vector<double> time_s;
  std::vector<double> value;
  std::vector<char> present;
};

// Summary of a series, computed without keeping its points.
struct Summary {
  int64_t samples = 0;  // present values on the grid
  std::optional<double> min, mean, max, last, delta, rate;
};

struct Range {
  std::optional<double> begin_s, end_s;
};

}  // namespace trainscope
