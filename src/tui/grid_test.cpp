#include "tui/grid.h"

#include <gtest/gtest.h>

namespace trainscope {

namespace grid_test {

std::string first_row(std::string_view text, int width, Charset charset = Charset::utf8) {
  Grid grid({1, 10}, charset);
  grid.put(0, 0, text, Look::plain, width);
  const std::string rows = grid.text();
  return rows.substr(0, rows.find('\n'));
}

TEST(Grid, what_does_not_fit_ends_with_an_ellipsis) {
  EXPECT_EQ(first_row("0123456789", 10), "0123456789");
  EXPECT_EQ(first_row("0123456789a", 20), "012345678…");
  EXPECT_EQ(first_row("0123456789a", 5), "0123…");
  EXPECT_EQ(first_row("0123456789a", 5, Charset::ascii), "0123~");
}

TEST(Grid, control_characters_and_escapes_are_not_kept) {
  EXPECT_EQ(first_row("a\x1b[31m\r\n\x07z", 20), "a?[31m?⏎?z");
  EXPECT_EQ(first_row("\xc2\x9b"
                      "1m\xff",
                      20),
            "?1m?");                              // CSI as one character, and no UTF-8
  EXPECT_EQ(first_row("\xe2\x80\xae", 20), "?");  // changes the writing direction
}

TEST(Grid, a_wide_character_takes_two_cells_and_is_never_halved) {
  Grid grid({1, 5}, Charset::utf8);
  grid.put(0, 0, "漢字漢");
  EXPECT_EQ(grid.at(0, 0).text, "漢");
  EXPECT_EQ(grid.at(0, 1).text, "");
  EXPECT_EQ(grid.text(), "漢字…\n");
}

TEST(Grid, combining_characters_stay_with_their_cell) {
  Grid grid({1, 5}, Charset::utf8);
  EXPECT_EQ(grid.put(0, 0, "e\xcc\x81x"), 2);
  EXPECT_EQ(grid.at(0, 0).text, "e\xcc\x81");
  EXPECT_EQ(grid.at(0, 1).text, "x");
}

TEST(Grid, ascii_has_no_other_bytes) {
  EXPECT_EQ(first_row("5 µs – ●", 20, Charset::ascii), "5 us - ?");
}

TEST(Grid, what_is_outside_is_left_out) {
  Grid grid({2, 4}, Charset::utf8);
  grid.put(2, 0, "x");
  grid.put(-1, 0, "x");
  grid.put(0, 9, "x");
  grid.put_right(1, 4, "longer than the row");
  EXPECT_EQ(grid.text(), "\nlon…\n");
}

}  // namespace grid_test

}  // namespace trainscope
