// A regular expression (PCRE2) that chooses a row of a text.
//
// Guarantees: matching stops after a bounded number of steps, so that no pattern can stall; nothing
// is allocated after the first match. Limits: bytes, not UTF-8; one thread at a time.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace trainscope {

class RowPattern {
 public:
  enum class Answer { no, yes, too_costly };

  // An Error says what is wrong and at which character of the pattern.
  static Result<RowPattern> compile(const std::string& pattern);

  RowPattern(RowPattern&&) noexcept;
  RowPattern& operator=(RowPattern&&) noexcept;
  ~RowPattern();

  Answer find_in(std::string_view row);
  // True when the pattern has a group in parentheses.
  bool has_group() const;
  // What the first group took in the row of the last yes; empty when it took no part.
  std::string_view group(std::string_view row) const;

 private:
  struct Compiled;
  explicit RowPattern(std::unique_ptr<Compiled> compiled);
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace trainscope
