#include "data/split.h"

#include <array>
#include <cstdint>

#include "data/sha1.h"

namespace trainscope::workload {
namespace {

constexpr std::uint32_t kModulus = 1U << 27;  // retrain.py: MAX_NUM_IMAGES_PER_CLASS + 1

}  // namespace

double split_percent(std::string_view name) {
  const std::array<std::uint8_t, 20> digest = sha1(name.substr(0, name.find("_nohash_")));
  // The digest as one big number modulo 2^27: its last 27 bits.
  const std::uint32_t last = std::uint32_t{digest[16]} << 24 | std::uint32_t{digest[17]} << 16 |
                             std::uint32_t{digest[18]} << 8 | std::uint32_t{digest[19]};
  return static_cast<double>(last % kModulus) * (100.0 / (kModulus - 1));
}

SetKind choose_set(std::string_view name, const SplitShares& shares) {
  const double percent = split_percent(name);
  if (percent < shares.validation_percent) return SetKind::kValidation;
  if (percent < shares.validation_percent + shares.test_percent) return SetKind::kTest;
  return SetKind::kTraining;
}

}  // namespace trainscope::workload
