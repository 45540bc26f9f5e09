#include "record/intake/matching_budget.h"

#include <algorithm>

#include "base/clock.h"

namespace trainscope {

namespace {

constexpr int64_t kShare = 100;                        // one part in a hundred: 1 %
constexpr int64_t kMost = 10 * kNsPerSecond / kShare;  // of ten seconds

}  // namespace

MatchingBudget::MatchingBudget(int64_t floor_per_second, CpuClock cpu_clock)
    : floor_per_second_(floor_per_second), cpu_clock_(cpu_clock), left_ns_(kMost) {}

void MatchingBudget::begin(int64_t since_zero_ns) {
  const int64_t passed_ns = std::max<int64_t>(0, since_zero_ns - now_ns_);
  left_ns_ = std::min(kMost, left_ns_ + passed_ns / kShare);
  now_ns_ = std::max(now_ns_, since_zero_ns);
  used_until_ns_ = cpu_clock_();
}

bool MatchingBudget::allows_line() {
  const int64_t second = now_ns_ / kNsPerSecond;
  if (second != second_) lines_in_second_ = 0;
  second_ = second;
  if (left_ns_ <= 0 && lines_in_second_ >= floor_per_second_) return false;
  ++lines_in_second_;
  return true;
}

void MatchingBudget::charge() {
  const int64_t now = cpu_clock_();
  left_ns_ -= now - used_until_ns_;
  // A single line that took very long is not paid for by minutes of silence.
  left_ns_ = std::max(left_ns_, -kMost);
  used_until_ns_ = now;
}

}  // namespace trainscope
