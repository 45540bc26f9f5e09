// "Did you mean": the known word nearest to a mistyped one.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace trainscope {

// "; did you mean 'every'?" if a known word is near enough, otherwise "".
std::string did_you_mean(std::string_view word, std::span<const std::string_view> known);

}  // namespace trainscope
