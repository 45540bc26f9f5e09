// Makes a counter of limited width, which starts again at 0, into one that only grows.
#pragma once

#include <cstdint>

namespace trainscope {

class Unwrap {
 public:
  // `range`: how many values it has. A fall by `least_fall` or more is a wrap; a smaller one is
  // taken for a reset and passed on as it is.
  explicit Unwrap(int64_t range, int64_t least_fall = 1) : range_(range), least_fall_(least_fall) {}

  int64_t operator()(int64_t raw) {
    if (last_ - raw >= least_fall_) base_ += range_;
    last_ = raw;
    return base_ + raw;
  }

 private:
  int64_t range_;
  int64_t least_fall_;
  int64_t base_ = 0;
  int64_t last_ = 0;
};

}  // namespace trainscope
