#include <algorithm>
#include <cmath>
#include <numeric>

#include "stats/stats.h"

namespace trainscope {
namespace {

bool is_same(const Effect& effect, double within) {
  if (effect.has_ratio && effect.b > 0)
    return effect.ratio_low >= 1 / (1 + within) && effect.ratio_high <= 1 + within;
  const double reach = within * std::max(std::abs(effect.a), std::abs(effect.b));
  return effect.difference_low >= -reach && effect.difference_high <= reach;
}

}  // namespace

Difference decide(const Effect& effect, double same_within) {
  if (is_same(effect, same_within)) return Difference::same;
  if (!(effect.p < 1 - effect.level)) return Difference::cannot_tell;
  return effect.difference > 0 ? Difference::higher : Difference::lower;
}

std::vector<double> adjust(std::span<const double> p) {
  std::vector<size_t> order(p.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t i) { return p[i]; });
  std::vector<double> adjusted(p.size());
  double largest = 0;
  for (size_t rank = 0; rank < order.size(); ++rank) {
    const auto left = static_cast<double>(order.size() - rank);
    largest = std::min(1.0, std::max(largest, left * p[order[rank]]));
    adjusted[order[rank]] = largest;
  }
  return adjusted;
}

}  // namespace trainscope
