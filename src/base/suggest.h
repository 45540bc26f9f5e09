// "Did you mean": the known word nearest to a mistyped one.
//
// Needs nothing else of this folder: trainscope-workload compiles it too.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace trainscope {

// How many single-character edits apart.
size_t edit_distance(std::string_view a, std::string_view b);

// "; did you mean 'every'?" if a known word is near enough, otherwise "".
std::string did_you_mean(std::string_view word, std::span<const std::string_view> known);
// "; did you mean a, b or c?" of these, as they are; "" of none.
std::string did_you_mean(std::span<const std::string> suggestions);

}  // namespace trainscope
