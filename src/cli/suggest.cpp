#include "cli/suggest.h"

#include <algorithm>

#include "base/text.h"

namespace trainscope {

namespace {

// Two letters in the wrong order are one slip of the fingers.
size_t slips(const std::string& given, std::string_view candidate) {
  std::string a = given, b(candidate);
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  return a == b && given != candidate ? 1 : edit_distance(given, candidate);
}

}  // namespace

std::string did_you_mean(std::string_view word, std::span<const std::string_view> known) {
  // A third of the letters may be wrong; more would suggest unrelated words.
  const std::string given = lower(word);
  size_t best_distance = std::max<size_t>(1, given.size() / 3) + 1;
  std::string_view best;
  for (const std::string_view candidate : known) {
    const size_t distance = slips(given, candidate);
    if (distance >= best_distance) continue;
    best_distance = distance;
    best = candidate;
  }
  if (best.empty()) return "";
  return "; did you mean '" + std::string(best) + "'?";
}

}  // namespace trainscope
