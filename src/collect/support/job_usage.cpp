#include "collect/support/job_usage.h"

#include <algorithm>

#include "collect/collect.h"

namespace trainscope {

namespace {

// stat shows CPU time cut to ticks, once for user and once for system time.
constexpr int64_t kTickTolerance = 20'000'000;

static_assert(kAmounts <= JobTotals::kNumbers);

}  // namespace

void add_to(Amounts& sum, const Amounts& more) {
  for (size_t i = 0; i < kAmounts; ++i) sum[i] += more[i];
}

bool JobProcess::absorb(const Amounts& child) {
  for (size_t i = 0; i < kAmounts; ++i) {
    const bool is_time = i == kUser || i == kSystem;
    const int64_t unclaimed = grown(i) - claimed[i] - claimed_before[i];
    if (unclaimed + (is_time ? kTickTolerance : 0) < child[i]) return false;
  }
  // Of each, so much time may never show: three children of 8 ms are none of 10 ms.
  Amounts shown = child;
  for (const size_t i : {kUser, kSystem})
    shown[i] = std::max<int64_t>(0, child[i] - kTickTolerance);
  add_to(claimed, shown);
  return true;
}

}  // namespace trainscope
