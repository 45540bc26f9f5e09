// The common part of redact_text() and redact_command().
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

namespace trainscope {

inline constexpr size_t kNone = std::string_view::npos;
inline constexpr std::string_view kBlanks = " \t\r\n";

inline bool is_any_of(std::span<const std::string_view> list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}
bool is_name_character(char c);
// A scheme of `authorization` (Basic, Token); the secret is the next word.
bool is_scheme(std::string_view word);
// Whether `word`, which follows the option `name`, is another option rather than its value.
bool is_next_option(std::string_view name, std::string_view word);
// `word` without the password of user:password, after `-u` or joined (-ume:x, --user=me:x).
std::string hide_user_password(std::string_view before, std::string_view word);

}  // namespace trainscope
