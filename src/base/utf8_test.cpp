#include "base/utf8.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace trainscope {
namespace utf8_test {

std::vector<char32_t> code_points(std::string_view text) {
  std::vector<char32_t> points;
  while (!text.empty()) points.push_back(take_code_point(text));
  return points;
}

TEST(utf8, code_points_of_every_length) {
  EXPECT_EQ(code_points("a\u00e9\u20ac\U0001F600"),
            (std::vector<char32_t>{'a', 0xE9, 0x20AC, 0x1F600}));
}

TEST(utf8, a_byte_that_begins_nothing_is_replaced_alone) {
  constexpr char32_t kBad = kReplacementCharacter;
  EXPECT_EQ(code_points("\x80x"), (std::vector<char32_t>{kBad, 'x'}));
  EXPECT_EQ(code_points("\xC3"), (std::vector<char32_t>{kBad}));
  EXPECT_EQ(code_points("\xE2\x82x"), (std::vector<char32_t>{kBad, kBad, 'x'}));
  EXPECT_EQ(code_points("\xC0\xAF\xF5"), (std::vector<char32_t>{kBad, kBad, kBad}));
}

}  // namespace utf8_test
}  // namespace trainscope
