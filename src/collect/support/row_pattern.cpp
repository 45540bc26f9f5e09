#include "collect/support/row_pattern.h"

#include <fmt/format.h>

#include <array>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace trainscope {

namespace {

// About a tenth of a millisecond; what tells rows apart needs some hundred.
constexpr uint32_t kMaxSteps = 5000;
constexpr size_t kMaxPatternBytes = 4096;

struct Free {
  void operator()(pcre2_code* it) const { pcre2_code_free(it); }
  void operator()(pcre2_match_data* it) const { pcre2_match_data_free(it); }
  void operator()(pcre2_match_context* it) const { pcre2_match_context_free(it); }
};

}  // namespace

struct RowPattern::Compiled {
  std::unique_ptr<pcre2_code, Free> code;
  std::unique_ptr<pcre2_match_data, Free> match;
  std::unique_ptr<pcre2_match_context, Free> limits;
  uint32_t groups = 0;
};

RowPattern::RowPattern(std::unique_ptr<Compiled> compiled) : compiled_(std::move(compiled)) {}
RowPattern::RowPattern(RowPattern&&) noexcept = default;
RowPattern& RowPattern::operator=(RowPattern&&) noexcept = default;
RowPattern::~RowPattern() = default;

Result<RowPattern> RowPattern::compile(const std::string& pattern) {
  if (pattern.size() > kMaxPatternBytes) {
    return Error(fmt::format("a pattern of {} bytes; at most {} are accepted", pattern.size(),
                             kMaxPatternBytes));
  }
  auto compiled = std::make_unique<Compiled>();
  int error = 0;
  PCRE2_SIZE offset = 0;
  compiled->code.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                                     PCRE2_NEVER_UTF | PCRE2_NEVER_BACKSLASH_C, &error, &offset,
                                     nullptr));
  if (!compiled->code) {
    std::array<PCRE2_UCHAR, 256> text{};
    pcre2_get_error_message(error, text.data(), text.size());
    return Error(fmt::format("{} at character {} of the pattern",
                             reinterpret_cast<const char*>(text.data()), offset + 1));
  }
  compiled->match.reset(pcre2_match_data_create_from_pattern(compiled->code.get(), nullptr));
  compiled->limits.reset(pcre2_match_context_create(nullptr));
  if (!compiled->match || !compiled->limits) return Error("no memory for the pattern");
  pcre2_set_match_limit(compiled->limits.get(), kMaxSteps);
  pcre2_set_depth_limit(compiled->limits.get(), kMaxSteps);
  pcre2_pattern_info(compiled->code.get(), PCRE2_INFO_CAPTURECOUNT, &compiled->groups);
  return RowPattern(std::move(compiled));
}

RowPattern::Answer RowPattern::find_in(std::string_view row) {
  const int found = pcre2_match(compiled_->code.get(), reinterpret_cast<PCRE2_SPTR>(row.data()),
                                row.size(), 0, 0, compiled_->match.get(), compiled_->limits.get());
  if (found >= 0) return Answer::yes;
  return found == PCRE2_ERROR_NOMATCH ? Answer::no : Answer::too_costly;
}

bool RowPattern::has_group() const { return compiled_->groups > 0; }

std::string_view RowPattern::group(std::string_view row) const {
  const PCRE2_SIZE* at = pcre2_get_ovector_pointer(compiled_->match.get());
  if (!has_group() || at[2] == PCRE2_UNSET || at[3] > row.size() || at[3] < at[2]) return {};
  return row.substr(at[2], at[3] - at[2]);
}

}  // namespace trainscope
