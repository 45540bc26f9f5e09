#include "base/glob.h"

#include <cstddef>

namespace trainscope {

namespace {

constexpr size_t kNone = std::string_view::npos;

// The end of the set that begins at `[`, after its `]`; kNone if there is none: then it is a
// bracket. A `]` right at the beginning is one of the set.
size_t end_of_set(std::string_view pattern, size_t at) {
  ++at;
  if (at < pattern.size() && (pattern[at] == '!' || pattern[at] == '^')) ++at;
  const size_t end = pattern.find(']', at + 1);
  return end == kNone ? kNone : end + 1;
}

// Is the character in [set]?
bool is_in_set(std::string_view set, char character) {
  std::string_view inside = set.substr(1, set.size() - 2);
  const bool is_negated = inside[0] == '!' || inside[0] == '^';
  if (is_negated) inside.remove_prefix(1);
  const auto c = static_cast<unsigned char>(character);
  bool is_found = false;
  for (size_t i = 0; i < inside.size(); ++i) {
    const auto first = static_cast<unsigned char>(inside[i]);
    if (i + 2 < inside.size() && inside[i + 1] == '-') {
      is_found = is_found || (first <= c && c <= static_cast<unsigned char>(inside[i + 2]));
      i += 2;
    } else {
      is_found = is_found || first == c;
    }
  }
  return is_found != is_negated;
}

// Where the pattern continues if what is at `at` matches the character; kNone if it does not.
size_t match_one(std::string_view pattern, size_t at, char character) {
  if (at == pattern.size()) return kNone;
  if (pattern[at] == '[') {
    const size_t end = end_of_set(pattern, at);
    if (end != kNone) {
      return is_in_set(pattern.substr(at, end - at), character) ? end : kNone;
    }
  }
  return pattern[at] == '?' || pattern[at] == character ? at + 1 : kNone;
}

}  // namespace

bool is_glob(std::string_view text) { return text.find_first_of("*?[") != kNone; }

bool glob_matches(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0, star = kNone, retry = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      retry = t;
    } else if (const size_t next = match_one(pattern, p, text[t]); next != kNone) {
      p = next;
      ++t;
    } else if (star != kNone) {
      p = star + 1;
      t = ++retry;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace trainscope
