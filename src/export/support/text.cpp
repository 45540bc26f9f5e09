#include "export/support/text.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <iterator>

namespace trainscope {

void append_time(std::string& out, double time_s) {
  fmt::format_to(std::back_inserter(out), "{:.6f}", time_s);
}

void append_value(std::string& out, double value) {
  // Most values are integers, whose digits take less time to find.
  constexpr double kMaxInteger = 1e15;
  if (value > 0 && value < kMaxInteger && value == std::floor(value)) {
    const fmt::format_int digits(static_cast<int64_t>(value));
    out.append(digits.data(), digits.size());
    return;
  }
  fmt::format_to(std::back_inserter(out), "{}", value);
}

}  // namespace trainscope
