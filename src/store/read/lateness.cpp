#include "store/read/lateness.h"

#include <algorithm>
#include <cmath>

namespace trainscope {

namespace {

constexpr size_t kUsualUs = 1 << 16;

}  // namespace

void LatenessCounts::add(int64_t late_us) {
  ++count_;
  if (late_us < 0 || late_us >= static_cast<int64_t>(kUsualUs)) {
    ++rare_[late_us];
    return;
  }
  if (usual_.empty()) usual_.resize(kUsualUs);
  ++usual_[static_cast<size_t>(late_us)];
}

std::optional<int64_t> LatenessCounts::nearest_rank_us(double share) const {
  if (count_ == 0) return std::nullopt;
  const auto rank = static_cast<int64_t>(std::ceil(share * static_cast<double>(count_)));
  int64_t left = std::clamp<int64_t>(rank, 1, count_);
  auto rare = rare_.begin();
  for (; rare != rare_.end() && rare->first < 0; ++rare) {
    left -= rare->second;
    if (left <= 0) return rare->first;
  }
  for (size_t late_us = 0; late_us < usual_.size(); ++late_us) {
    left -= usual_[late_us];
    if (left <= 0) return static_cast<int64_t>(late_us);
  }
  for (; rare != rare_.end(); ++rare) {
    left -= rare->second;
    if (left <= 0) return rare->first;
  }
  return std::nullopt;
}

}  // namespace trainscope
