#include "record/supervise/signal_witness.h"

#include <algorithm>
#include <cstdlib>

namespace trainscope {

bool SignalWitness::is_seen(int number, int64_t arrived_ns, int64_t seen_ns) {
  int64_t& accounted_ns = accounted_ns_[number];
  const bool is_new = seen_ns > accounted_ns;
  accounted_ns = std::max(accounted_ns, seen_ns);
  const bool is_earlier_one = is_new && is_expected_[number];
  if (is_new) is_expected_[number] = false;
  return std::abs(seen_ns - arrived_ns) < kUsualTime ||
         (is_new && !is_earlier_one && seen_ns > arrived_ns - kLongestStall);
}

}  // namespace trainscope
