// The distribution of many numbers, for medians and quantiles.
//
// Guarantees: exact up to kMaxExact numbers. Of more, a quantile is off by at most 0.05 % of its
// value: they are counted in buckets that are 1/1024 of a power of two wide, so memory stays a few
// MiB however many there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace trainscope {

class Distribution {
 public:
  static constexpr size_t kMaxExact = size_t{1} << 20;

  void add(double value);
  size_t count() const { return count_; }

  // Of an even number the upper one of the two; 0 without any.
  double median() const;
  // The smallest value that at least this share of all is not above; 0 without any.
  double nearest_rank(double share) const;
  // The median of their distances from a value.
  double median_distance(double from) const;

 private:
  using Weighted = std::vector<std::pair<double, size_t>>;  // a value and how many have it
  void count_in_buckets(double value);
  double at_rank(size_t rank) const;
  static double weighted_at(Weighted values, size_t rank);

  size_t count_ = 0;
  std::vector<double> values_;                   // while there are at most kMaxExact
  std::unordered_map<int64_t, size_t> buckets_;  // of more: how many are in each
};

}  // namespace trainscope
