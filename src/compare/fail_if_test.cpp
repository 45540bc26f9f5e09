#include <gtest/gtest.h>

#include "compare/compare.h"

namespace trainscope {
namespace fail_if_test {

TEST(FailIfTest, only_percentages_of_slower_are_conditions) {
  EXPECT_DOUBLE_EQ(parse_fail_if("slower:5%")->slower, 0.05);
  EXPECT_DOUBLE_EQ(parse_fail_if("slower:0%")->slower, 0);
  EXPECT_DOUBLE_EQ(parse_fail_if("slower:2.5 %")->slower, 0.025);
  for (const char* text : {"", "slower", "slower:", "slower:maybe", "slower:5", "slower:-5%",
                           "slower:%", "slower:nan%", "slower:inf%", "faster:5%", "5%"}) {
    EXPECT_FALSE(parse_fail_if(text)) << text;
  }
}

ComparedSpeed speed(double low, double high) {
  ComparedSpeed speed;
  speed.ratio = (low + high) / 2;
  speed.low = low;
  speed.high = high;
  return speed;
}

TEST(FailIfTest, the_whole_interval_decides) {
  const FailIf condition{0.05};  // 1 / 1.05 is 0.952
  EXPECT_EQ(check_fail_if(condition, speed(0.90, 0.951)), FailIfAnswer::fires);
  EXPECT_EQ(check_fail_if(condition, speed(0.90, 0.953)), FailIfAnswer::cannot_tell);
  EXPECT_EQ(check_fail_if(condition, speed(0.953, 0.99)), FailIfAnswer::holds);
  EXPECT_EQ(check_fail_if(condition, speed(1.1, 1.2)), FailIfAnswer::holds);
  EXPECT_EQ(check_fail_if(condition, {}), FailIfAnswer::cannot_tell);
}

TEST(QuantityTest, values_have_the_units_of_people) {
  EXPECT_EQ(quantity_text(0.756, "1"), "75.6 %");
  EXPECT_EQ(quantity_text(1024, "By/s"), "1.00 KiB/s");
  EXPECT_EQ(quantity_text(83.66, "Cel"), "83.7 °C");
  EXPECT_EQ(quantity_text(0.25, "s/s"), "25.0 %");
  EXPECT_EQ(quantity_text(12345, "{switch}/s"), "12.3k/s");
  EXPECT_EQ(ratio_text(1.3), "1.30×");
  EXPECT_EQ(ratio_text(1.0031), "1.003×");
  EXPECT_EQ(ratio_text(0.00123), "0.0012×");
  EXPECT_EQ(ratio_text(0), "0.00×");
  EXPECT_EQ(ratio_text(0.5, 0.25, 2), "0.50 [0.25, 2.00]");
  EXPECT_EQ(ratio_text(48.1, 44.12, std::nullopt), "48.1 [44.1, ∞]");
  EXPECT_EQ(ratio_text(0.1912, 0.1893, 0.1931), "0.191 [0.189, 0.193]");
  EXPECT_EQ(ratio_text(1, 1, 1), "1.000 [1.000, 1.000]");
  EXPECT_EQ(ratio_text(0.96, 0.923, 0.99964), "0.9600 [0.9230, 0.9996]");
  EXPECT_EQ(ratio_text(1.2, 1.004, 1.4), "1.200 [1.004, 1.400]");
  EXPECT_EQ(ratio_text(1, 1 + 1e-9, 1 + 2e-9), "1.000 [1.000, 1.000]");
  EXPECT_EQ(ratio_text(0.98, 0.95, 1.0004), "0.980 [0.950, 1.000]");
  EXPECT_EQ(difference_text(20, 18.71, 21.3, "Cel"), "+20.0 °C [18.7, 21.3]");
  EXPECT_EQ(difference_text(-3, std::nullopt, std::nullopt, "Cel"), "-3.0 °C");
  EXPECT_EQ(p_text(0.0004), "p < 0.001");
  EXPECT_EQ(p_text(0.42), "p = 0.42");
}

}  // namespace fail_if_test
}  // namespace trainscope
