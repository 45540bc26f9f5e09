#include "cli/suggest.h"

#include <algorithm>

#include "base/text.h"

namespace trainscope {

std::string did_you_mean(std::string_view word, std::span<const std::string_view> known) {
  // A third of the letters may be wrong; more would suggest words that nobody meant.
  const std::string given = lower(word);
  size_t best_distance = std::max<size_t>(1, given.size() / 3) + 1;
  std::string_view best;
  for (const std::string_view candidate : known) {
    const size_t distance = edit_distance(given, candidate);
    if (distance >= best_distance) continue;
    best_distance = distance;
    best = candidate;
  }
  if (best.empty()) return "";
  return "; did you mean '" + std::string(best) + "'?";
}

}  // namespace trainscope
