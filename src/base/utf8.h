// The code points of UTF-8 text.
//
// Needs nothing else of this folder: trainscope-workload compiles it too.
#pragma once

#include <string_view>

namespace trainscope {

inline constexpr char32_t kReplacementCharacter = 0xFFFD;

// Takes one code point off the front of a text that is not empty; of an invalid sequence it takes
// one byte and returns U+FFFD.
char32_t take_code_point(std::string_view& text);

}  // namespace trainscope
