#include "collect/support/counters/row_pattern.h"

#include <fmt/format.h>

namespace trainscope {

namespace {

// About a tenth of a millisecond; patterns that select rows need some hundred.
constexpr uint32_t kMaxSteps = 5000;
constexpr size_t kMaxPatternBytes = 4096;

}  // namespace

Result<RowPattern> RowPattern::compile(const std::string& pattern) {
  if (pattern.size() > kMaxPatternBytes) {
    return Error(fmt::format("a pattern of {} bytes; at most {} are accepted", pattern.size(),
                             kMaxPatternBytes));
  }
  Pattern::Fault fault;
  auto compiled = Pattern::compile(pattern, Pattern::Text::bytes, kMaxSteps, fault);
  if (!compiled) {
    return Error(fmt::format("{} at character {} of the pattern", fault.message, fault.offset + 1));
  }
  return RowPattern(std::move(*compiled));
}

RowPattern::Answer RowPattern::find_in(std::string_view row) { return pattern_.find_in(row); }

bool RowPattern::has_group() const { return pattern_.group_count() > 0; }

std::string_view RowPattern::group(std::string_view row) const {
  return pattern_.group(1, row).value_or(std::string_view());
}

}  // namespace trainscope
