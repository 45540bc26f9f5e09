// Differences within pairs: their Hodges–Lehmann estimate and the interval of Wilcoxon's
// signed-rank test.
//
// Guarantees: one wild pair moves neither far; the interval has at least its level if the
// differences are symmetric around the truth. Limits: fewer than six pairs have no interval of
// 95 %. Neighbouring pairs are averaged if there are more than kMostPairs.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace trainscope {

inline constexpr size_t kMostPairs = 1000;

struct PairedInterval {
  double estimate = 0, low = 0, high = 0;
};
// Of 95 %; `differences` in the order of the pairs.
std::optional<PairedInterval> paired_interval(std::vector<double> differences);

}  // namespace trainscope
