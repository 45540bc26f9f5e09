// SplitMix64: the one source of random bits outside libtorch. The standard's distributions differ
// between libraries, and its engines are slow to seed; these few lines are neither.
//
// Guarantees: the same numbers on every machine for the same seed and stream.
// Limits: not for secrets.
#pragma once

#include <cstdint>

namespace trainscope::workload {

class RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::uint64_t stream) : state_(seed) {
    state_ = next() + stream;
  }

  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t value = state_;
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9U;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBU;
    return value ^ (value >> 31);
  }

  // From 0 to `limit` - 1; the bias of the remainder is below 2^-32 for the limits used here.
  std::uint64_t below(std::uint64_t limit) { return next() % limit; }

  float between(float low, float high) {
    const auto bits = static_cast<float>(next() >> 40);  // 24 bits: exact in a float
    return low + (high - low) * bits * 0x1p-24F;
  }

 private:
  std::uint64_t state_;
};

}  // namespace trainscope::workload
