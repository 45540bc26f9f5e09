// A compiled regular expression (PCRE2) with bounded matching time.
//
// Guarantees: matching stops after a bounded number of steps; memory allocated at the first match
// or for a longer text is kept. Limits: one thread at a time; groups are valid until the next
// match.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace trainscope {

class Pattern {
 public:
  enum class Answer { no, yes, too_costly };
  enum class Text { bytes, utf8 };
  struct Fault {
    std::string message;  // PCRE2's own
    size_t offset = 0;
  };

  // Nothing if it is not a regular expression; `fault` has the reason.
  static std::optional<Pattern> compile(std::string_view pattern, Text text, uint32_t max_steps,
                                        Fault& fault);

  Pattern(Pattern&&) noexcept;
  Pattern& operator=(Pattern&&) noexcept;
  ~Pattern();

  Answer find_in(std::string_view text) const;
  // Compiled to machine code, not interpreted.
  bool is_native() const;
  size_t group_count() const;
  // 0 when no group has this name.
  size_t group_number(const char* name) const;
  // Text of a group in the last match; nothing if it took no part.
  std::optional<std::string_view> group(size_t number, std::string_view text) const;

 private:
  struct Compiled;
  explicit Pattern(std::unique_ptr<Compiled> compiled);
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace trainscope
