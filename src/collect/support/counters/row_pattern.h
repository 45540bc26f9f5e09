// A regular expression (PCRE2) that chooses a row of a text.
//
// Guarantees: matching stops after a bounded number of steps, so that no pattern can stall.
// Limits: bytes, not UTF-8; one thread at a time.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "parse/parse.h"

namespace trainscope {

class RowPattern {
 public:
  using Answer = Pattern::Answer;

  // An Error states the problem and its position in the pattern.
  static Result<RowPattern> compile(const std::string& pattern);

  Answer find_in(std::string_view row);
  // True when the pattern has a group in parentheses.
  bool has_group() const;
  // Text of the first group in the last matching row; empty if it took no part.
  std::string_view group(std::string_view row) const;

 private:
  explicit RowPattern(Pattern pattern) : pattern_(std::move(pattern)) {}
  Pattern pattern_;
};

}  // namespace trainscope
