#include "parse/pattern.h"

#include <array>

#include "base/check.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace trainscope {

namespace {

struct Free {
  void operator()(pcre2_code* it) const { pcre2_code_free(it); }
  void operator()(pcre2_match_data* it) const { pcre2_match_data_free(it); }
  void operator()(pcre2_match_context* it) const { pcre2_match_context_free(it); }
  void operator()(pcre2_jit_stack* it) const { pcre2_jit_stack_free(it); }
};

// Stack for machine code; the default is 32 KiB, which a line of 4 KiB can exceed.
constexpr size_t kFirstStackBytes = 32 * 1024, kMaxStackBytes = 512 * 1024;

PCRE2_SPTR units(const char* text) { return reinterpret_cast<PCRE2_SPTR>(text); }

}  // namespace

struct Pattern::Compiled {
  std::unique_ptr<pcre2_jit_stack, Free> stack;  // outlives the context that names it
  std::unique_ptr<pcre2_code, Free> code;
  std::unique_ptr<pcre2_match_data, Free> match;
  std::unique_ptr<pcre2_match_context, Free> limits;
  uint32_t groups = 0;

  // Machine code is about ten times as fast. If the kernel refuses memory that is writable and
  // executable (SELinux, systemd's MemoryDenyWriteExecute), the pattern is interpreted.
  void make_native() {
    if (pcre2_jit_compile(code.get(), PCRE2_JIT_COMPLETE) != 0) return;
    stack.reset(pcre2_jit_stack_create(kFirstStackBytes, kMaxStackBytes, nullptr));
    if (stack) pcre2_jit_stack_assign(limits.get(), nullptr, stack.get());
  }
};

Pattern::Pattern(std::unique_ptr<Compiled> compiled) : compiled_(std::move(compiled)) {}
Pattern::Pattern(Pattern&&) noexcept = default;
Pattern& Pattern::operator=(Pattern&&) noexcept = default;
Pattern::~Pattern() = default;

std::optional<Pattern> Pattern::compile(std::string_view pattern, Text text, uint32_t max_steps,
                                        Fault& fault) {
  auto compiled = std::make_unique<Compiled>();
  const uint32_t kind =
      text == Text::utf8 ? PCRE2_UTF | PCRE2_MATCH_INVALID_UTF : uint32_t{PCRE2_NEVER_UTF};
  int error = 0;
  PCRE2_SIZE offset = 0;
  compiled->code.reset(pcre2_compile(units(pattern.data()), pattern.size(),
                                     PCRE2_NEVER_BACKSLASH_C | kind, &error, &offset, nullptr));
  if (!compiled->code) {
    std::array<PCRE2_UCHAR, 256> words{};
    pcre2_get_error_message(error, words.data(), words.size());
    fault = {reinterpret_cast<const char*>(words.data()), offset};
    return std::nullopt;
  }
  compiled->match.reset(pcre2_match_data_create_from_pattern(compiled->code.get(), nullptr));
  compiled->limits.reset(pcre2_match_context_create(nullptr));
  CHECK(compiled->match && compiled->limits);  // only without memory
  pcre2_set_match_limit(compiled->limits.get(), max_steps);
  pcre2_set_depth_limit(compiled->limits.get(), max_steps);
  pcre2_pattern_info(compiled->code.get(), PCRE2_INFO_CAPTURECOUNT, &compiled->groups);
  compiled->make_native();
  return Pattern(std::move(compiled));
}

Pattern::Answer Pattern::find_in(std::string_view text) const {
  const auto match = [&](uint32_t options) {
    return pcre2_match(compiled_->code.get(), units(text.data()), text.size(), 0, options,
                       compiled_->match.get(), compiled_->limits.get());
  };
  int found = match(0);
  if (found == PCRE2_ERROR_JIT_STACKLIMIT) found = match(PCRE2_NO_JIT);
  if (found >= 0) return Answer::yes;
  return found == PCRE2_ERROR_NOMATCH ? Answer::no : Answer::too_costly;
}

bool Pattern::is_native() const {
  size_t bytes = 0;
  pcre2_pattern_info(compiled_->code.get(), PCRE2_INFO_JITSIZE, &bytes);
  return bytes > 0;
}

size_t Pattern::group_count() const { return compiled_->groups; }

size_t Pattern::group_number(const char* name) const {
  const int number = pcre2_substring_number_from_name(compiled_->code.get(), units(name));
  return number > 0 ? static_cast<size_t>(number) : 0;
}

std::optional<std::string_view> Pattern::group(size_t number, std::string_view text) const {
  if (number > compiled_->groups) return std::nullopt;
  const PCRE2_SIZE* at = pcre2_get_ovector_pointer(compiled_->match.get()) + 2 * number;
  if (at[0] == PCRE2_UNSET || at[1] > text.size() || at[1] < at[0]) return std::nullopt;
  return text.substr(at[0], at[1] - at[0]);
}

}  // namespace trainscope
