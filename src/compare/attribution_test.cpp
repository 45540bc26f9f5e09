#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "compare/planted_sides.h"

namespace trainscope {
namespace attribution_test {

using testing::HasSubstr;
using testing::Not;

const AttributedPart* find_part(const Comparison& comparison, const std::string& name) {
  for (const AttributedPart& part : comparison.attribution) {
    if (part.part == name) return &part;
  }
  return nullptr;
}

TEST(AttributionTest, slow_first_steps_are_no_part_of_the_step_time) {
  PlantedHome home;
  home.add("a", {.seed = 1, .noise = 0.01, .input_share = 0.2});
  home.add("b", {.seed = 2, .step_s = 0.12, .noise = 0.01, .input_share = 0.2, .warmup = 9});
  const auto comparison = home.compare({"a"}, {"b"});
  ASSERT_TRUE(comparison);
  EXPECT_EQ(find_part(*comparison, "start-up"), nullptr);
  double difference_s = 0;
  for (const AttributedPart& part : comparison->attribution) difference_s += part.difference_s;
  EXPECT_NEAR(difference_s, 0.02, 0.002);
  EXPECT_THAT(comparison->why, Not(HasSubstr("start-up")));
}

// B's steps are 10 ms shorter. Five of its checkpoints are before the last of 600 steps.
TEST(AttributionTest, pauses_are_named_apart_from_the_step_time) {
  PlantedHome home;
  home.add("a", {.seed = 1, .noise = 0.01, .input_share = 0.2});
  home.add("b", {.seed = 2, .step_s = 0.09, .noise = 0.01, .input_share = 0.2, .checkpoint_s = 5});
  const auto comparison = home.compare({"a"}, {"b"});
  ASSERT_TRUE(comparison);
  EXPECT_EQ(comparison->speed.verdict, "faster");
  const AttributedPart* const checkpoint = find_part(*comparison, "checkpoint");
  ASSERT_NE(checkpoint, nullptr);
  EXPECT_NEAR(checkpoint->difference_s, 6 * 5.0 / 600, 1e-6) << "one is after the last step";
  EXPECT_FALSE(checkpoint->share);
  double shares = 0;
  for (const AttributedPart& part : comparison->attribution) shares += part.share.value_or(0);
  EXPECT_NEAR(shares, 1, 1e-9);
  EXPECT_THAT(comparison->why, HasSubstr("per step come from unexplained time"));
  EXPECT_THAT(comparison->why, HasSubstr("; checkpoint takes"));
  EXPECT_THAT(comparison->why, HasSubstr("more"));
}

}  // namespace attribution_test
}  // namespace trainscope
