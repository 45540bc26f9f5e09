// How late the ticks of a run began: counts by microsecond, so that a quantile of millions of ticks
// takes no list of them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace trainscope {

class LatenessCounts {
 public:
  void add(int64_t late_us);
  int64_t count() const { return count_; }
  // The smallest lateness that at least this share of all ticks does not exceed, or nothing without
  // ticks.
  std::optional<int64_t> nearest_rank_us(double share) const;

 private:
  int64_t count_ = 0;
  std::vector<uint32_t> usual_;      // by microsecond, from 0 on
  std::map<int64_t, int64_t> rare_;  // negative or very late
};

}  // namespace trainscope
