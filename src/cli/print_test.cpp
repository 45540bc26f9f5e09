#include "cli/print.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace trainscope {
namespace print_test {

TEST(Print, sends_text_newlines_and_our_own_styles) {
  EXPECT_EQ(terminal_text("a\nb µ…\n"), "a\nb µ…\n");
  EXPECT_EQ(terminal_text("\x1b[1mbold\x1b[0m \x1b[31mred\x1b[0m"),
            "\x1b[1mbold\x1b[0m \x1b[31mred\x1b[0m");
  EXPECT_EQ(terminal_text("a,b\r\n"), "a,b\r\n");
}

TEST(Print, sends_nothing_that_a_terminal_obeys) {
  EXPECT_EQ(terminal_text("a\x1b[2Jb"), "a?[2Jb");
  EXPECT_EQ(terminal_text("\x1b]0;title\x07"), "?]0;title?");
  EXPECT_EQ(terminal_text("\xc2\x9b"
                          "31m"),
            "?31m");                              // C1
  EXPECT_EQ(terminal_text("\xe2\x80\xae"), "?");  // right to left
  EXPECT_EQ(terminal_text("a\rb\x08\x7f"), "a?b??");
  EXPECT_EQ(terminal_text("\x9b\xff"), "??");  // no UTF-8
  EXPECT_EQ(terminal_text("\x1b\x1b[1m\x1b[1"), "?\x1b[1m?[1");
}

TEST(Print, json_stays_what_it_was) {
  const Json document = {{"a\x7f", "\x1b[2J \xc2\x9b \xe2\x80\xae µ \xf0\x9f\x98\x80"}};
  const std::string text = json_text(document);
  EXPECT_EQ(Json::parse(text), document);
  EXPECT_EQ(terminal_text(text), text);
  EXPECT_NE(text.find("µ"), std::string::npos);
}

TEST(Print, json_of_bytes_that_are_no_text_is_still_json) {
  const Json document = {{"a", "\xff\x9b"}};
  const std::string text = json_text(document);
  EXPECT_TRUE(Json::accept(text)) << text;
  EXPECT_EQ(text.find('\xff'), std::string::npos);
}

}  // namespace print_test
}  // namespace trainscope
