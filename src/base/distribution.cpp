#include "base/distribution.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace trainscope {

namespace {

constexpr int kDroppedBits = 42;  // 10 of the 52 bits of a fraction remain

// Buckets are in the order of their values.
int64_t bucket_of(double value) {
  const auto bucket =
      static_cast<int64_t>(std::bit_cast<uint64_t>(std::abs(value)) >> kDroppedBits);
  return value < 0 ? -bucket : bucket;
}

double middle_of_bucket(int64_t bucket) {
  if (bucket == 0) return 0;
  const auto bits = static_cast<uint64_t>(std::abs(bucket)) << kDroppedBits;
  const double middle = std::bit_cast<double>(bits | (uint64_t{1} << (kDroppedBits - 1)));
  return bucket < 0 ? -middle : middle;
}

double nth(std::vector<double> values, size_t rank) {
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(rank);
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

}  // namespace

void Distribution::add(double value) {
  ++count_;
  if (count_ > kMaxExact) {
    for (const double each : values_) count_in_buckets(each);
    values_ = {};
    count_in_buckets(value);
  } else {
    values_.push_back(value);
  }
}

void Distribution::count_in_buckets(double value) { ++buckets_[bucket_of(value)]; }

double Distribution::median() const { return count_ == 0 ? 0 : at_rank(count_ / 2); }

double Distribution::nearest_rank(double share) const {
  if (count_ == 0) return 0;
  const auto rank = static_cast<size_t>(std::ceil(share * static_cast<double>(count_)));
  return at_rank(std::clamp<size_t>(rank, 1, count_) - 1);
}

double Distribution::median_distance(double from) const {
  if (count_ == 0) return 0;
  if (buckets_.empty()) {
    std::vector<double> distances = values_;
    for (double& value : distances) value = std::abs(value - from);
    return nth(std::move(distances), count_ / 2);
  }
  Weighted distances;
  for (const auto& [bucket, count] : buckets_) {
    distances.emplace_back(std::abs(middle_of_bucket(bucket) - from), count);
  }
  return weighted_at(std::move(distances), count_ / 2);
}

double Distribution::at_rank(size_t rank) const {
  if (buckets_.empty()) return nth(values_, rank);
  Weighted values;
  for (const auto& [bucket, count] : buckets_) values.emplace_back(middle_of_bucket(bucket), count);
  return weighted_at(std::move(values), rank);
}

double Distribution::weighted_at(Weighted values, size_t rank) {
  std::sort(values.begin(), values.end());
  for (const auto& [value, count] : values) {
    if (rank < count) return value;
    rank -= count;
  }
  return values.back().first;
}

}  // namespace trainscope
