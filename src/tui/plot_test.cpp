#include "tui/plot.h"

#include <gtest/gtest.h>

namespace trainscope {

namespace plot_test {

std::string joined(const std::vector<std::string>& cells) {
  std::string out;
  for (const std::string& cell : cells) out += cell;
  return out;
}

TEST(Plot, braille_is_filled_from_the_bottom_two_values_per_column) {
  const auto rows = plot_columns({0.25, 0.5, 0.75, 1.0}, 0, 1, 2, 1, Charset::utf8);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(joined(rows[0]), "⣠⣾");
}

TEST(Plot, two_rows_have_eight_levels) {
  const auto rows = plot_columns({1.0, 0.5, 0.625, 0.0}, 0, 1, 2, 2, Charset::utf8);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(joined(rows[0]), "⡇⡀");
  EXPECT_EQ(joined(rows[1]), "⣿⣇");
}

TEST(Plot, a_value_of_zero_has_a_dot_and_an_absent_one_has_none) {
  const auto rows = plot_columns({0.0, 0.0, std::nullopt, std::nullopt}, 0, 1, 3, 1, Charset::utf8);
  EXPECT_EQ(joined(rows[0]), "⣀  ");
}

TEST(Plot, ascii_shows_the_larger_of_two_values) {
  const auto rows = plot_columns({0.0, 1.0, 0.5, 0.25, std::nullopt}, 0, 1, 3, 1, Charset::ascii);
  EXPECT_EQ(joined(rows[0]), "#- ");
}

TEST(Plot, values_outside_of_the_scale_are_cut) {
  const auto rows = plot_columns({-5.0, 7.0}, 0, 1, 1, 1, Charset::utf8);
  EXPECT_EQ(joined(rows[0]), "⣸");
}

TEST(Plot, a_scale_without_extent_is_no_division_by_zero) {
  EXPECT_EQ(sparkline({2.0, 2.0}, 2, 2, Charset::utf8), "▁▁");
}

TEST(Sparkline, goes_from_the_lowest_to_the_highest) {
  const std::vector<std::optional<double>> values = {0.0, 0.5, std::nullopt, 1.0};
  EXPECT_EQ(sparkline(values, 0, 1, Charset::utf8), "▁▅ █");
  EXPECT_EQ(sparkline(values, 0, 1, Charset::ascii), "_+ @");
}

}  // namespace plot_test

}  // namespace trainscope
