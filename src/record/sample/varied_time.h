// When a source is read next whose readings must not keep step with the job.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>

namespace trainscope {

// A time in the next period, 0.7 to 1.3 periods after the last reading: a row is known by its
// tick. `last_ns` is not negative. The place in the period is a random walk between two walls,
// so in the long run each place is as likely as any other.
inline int64_t varied_time_ns(int64_t last_ns, int64_t period_ns, std::minstd_rand& random) {
  constexpr auto kLeast = std::minstd_rand::min(), kMost = std::minstd_rand::max();
  const double share = static_cast<double>(random() - kLeast) / (kMost - kLeast);
  const double step_ns = (0.6 * share - 0.3) * static_cast<double>(period_ns);
  int64_t place_ns = std::abs(last_ns % period_ns + static_cast<int64_t>(step_ns));
  if (place_ns >= period_ns) place_ns = 2 * period_ns - 1 - place_ns;
  return (last_ns / period_ns + 1) * period_ns + place_ns;
}

}  // namespace trainscope
