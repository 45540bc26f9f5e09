// Ticks that are missing within blocks.
//
// Guarantees: no more are held than wanted, twice as many while they are added: the longest.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace trainscope {

// Ticks [from, to) of a block.
struct MissedTicks {
  size_t block = 0;
  int64_t from = 0, to = 0;
};

class MissedList {
 public:
  explicit MissedList(size_t most) : most_(most) {}

  void add(const MissedTicks& missed) {
    if (list_.size() / 2 >= most_) drop_shortest();
    list_.push_back(missed);
  }
  // In order of ticks.
  std::vector<MissedTicks> finish() {
    drop_shortest();
    std::sort(list_.begin(), list_.end(),
              [](const MissedTicks& a, const MissedTicks& b) { return a.from < b.from; });
    return std::move(list_);
  }
  int64_t left_out() const { return left_out_; }

 private:
  void drop_shortest() {
    if (list_.size() <= most_) return;
    const auto end = list_.begin() + static_cast<ptrdiff_t>(most_);
    std::nth_element(
        list_.begin(), end, list_.end(),
        [](const MissedTicks& a, const MissedTicks& b) { return a.to - a.from > b.to - b.from; });
    left_out_ += list_.end() - end;
    list_.erase(end, list_.end());
  }

  const size_t most_;
  std::vector<MissedTicks> list_;
  int64_t left_out_ = 0;
};

}  // namespace trainscope
