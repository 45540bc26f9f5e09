#include "base/suggest.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace trainscope {

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row.back();
}

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
  std::string given(word);
  for (char& c : given) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  size_t best_distance = std::max<size_t>(1, given.size() / 3) + 1;
  std::string_view best;
  for (const std::string_view candidate : known) {
    const size_t distance = slips(given, candidate);
    if (distance >= best_distance) continue;
    best_distance = distance;
    best = candidate;
  }
  if (best.empty()) return "";
  std::string quoted(1, '\'');
  quoted.append(best).push_back('\'');
  return did_you_mean(std::span(&quoted, 1));
}

std::string did_you_mean(std::span<const std::string> suggestions) {
  if (suggestions.empty()) return "";
  std::string text = "; did you mean ";
  for (size_t i = 0; i < suggestions.size(); ++i) {
    if (i > 0) text += i + 1 == suggestions.size() ? " or " : ", ";
    text += suggestions[i];
  }
  text += '?';
  return text;
}

}  // namespace trainscope
