#include "report/picture/axis.h"

#include <gtest/gtest.h>

namespace trainscope {
namespace axis_test {

std::vector<std::string> texts(const Axis& axis) {
  std::vector<std::string> all;
  for (const Tick& tick : axis.ticks) all.push_back(tick.text);
  return all;
}

using Texts = std::vector<std::string>;

TEST(axis, values_are_written_in_a_unit_that_fits) {
  const Axis milliseconds = value_axis(0.012, 0.031, "s", true);
  EXPECT_EQ(milliseconds.unit, "ms");
  EXPECT_EQ(texts(milliseconds), (Texts{"0", "10", "20", "30", "40"}));
  EXPECT_EQ(milliseconds.low, 0);
  EXPECT_NEAR(milliseconds.high, 0.04, 1e-12);
  const Axis bytes = value_axis(0, 3.5 * 1024 * 1024 * 1024, "By", true);
  EXPECT_EQ(bytes.unit, "GiB");
  EXPECT_EQ(texts(bytes), (Texts{"0", "1", "2", "3", "4"}));
  EXPECT_EQ(value_axis(0, 5e6, "By/s", true).unit, "MiB/s");
  EXPECT_EQ(texts(value_axis(0, 0.97, "%", true)), (Texts{"0", "20", "40", "60", "80", "100"}));
  // Of the clocks that shares are computed from, one is a bit ahead.
  EXPECT_EQ(texts(value_axis(0, 1.01, "%", true)), (Texts{"0", "20", "40", "60", "80", "100"}));
  EXPECT_EQ(texts(value_axis(0, 1.4, "%", true)), (Texts{"0", "50", "100", "150"}));
  EXPECT_EQ(value_axis(40, 60, "Cel", false).unit, "°C");
  EXPECT_EQ(value_axis(0, 250, "W", true).unit, "W");
  EXPECT_EQ(value_axis(0, 2.5e6, "{packet}/s", true).unit, "M/s");
}

TEST(axis, an_axis_that_need_not_begin_at_zero) {
  const Axis loss = value_axis(0.31, 0.52, "", false);
  EXPECT_EQ(texts(loss), (Texts{"0.30", "0.35", "0.40", "0.45", "0.50", "0.55"}));
  EXPECT_EQ(texts(value_axis(-1, 1, "", false)), (Texts{"-1.0", "-0.5", "0", "0.5", "1.0"}));
}

TEST(axis, one_value_or_none_is_still_an_axis) {
  for (const double value : {0.0, 1e-12, 7.0, -3.0, 1e15}) {
    for (const bool from_zero : {true, false}) {
      const Axis axis = value_axis(value, value, "s", from_zero);
      EXPECT_LT(axis.low, axis.high) << value;
      EXPECT_GE(axis.ticks.size(), 2U);
      EXPECT_LE(axis.ticks.size(), 8U);
    }
  }
}

TEST(axis, time) {
  EXPECT_EQ(texts(time_axis(0, 20)), (Texts{"0", "5", "10", "15", "20"}));
  EXPECT_EQ(time_axis(0, 20).unit, "s");
  EXPECT_EQ(texts(time_axis(0, 140)), (Texts{"0", "30", "60", "90", "120"}));
  EXPECT_EQ(time_axis(0, 151).unit, "min");
  EXPECT_EQ(time_axis(0, 3600).unit, "min");
  EXPECT_EQ(texts(time_axis(0, 86400)), (Texts{"0", "6", "12", "18", "24"}));
  EXPECT_EQ(time_axis(0, 86400).unit, "h");
  EXPECT_EQ(texts(time_axis(0, 30 * 86400.0)), (Texts{"0", "7", "14", "21", "28"}));
  EXPECT_EQ(texts(time_axis(0, 0.8)), (Texts{"0", "0.2", "0.4", "0.6", "0.8"}));
  EXPECT_LT(time_axis(5, 5).low, time_axis(5, 5).high);
}

}  // namespace axis_test
}  // namespace trainscope
