#include "training/step_track.h"

#include <gtest/gtest.h>

namespace trainscope {
namespace {

Step read_one(StepTrack track) {
  track.add(1, *parse_report("step 1 loss=0.5 lr=0.1"));
  return track.finish().value();
}

TEST(StepTrack, a_step_has_other_numbers_only_where_they_are_asked_for) {
  const ValueNames names{"loss", ""};
  const Step with = read_one(StepTrack(names, StepNumbers::present)),
             without = read_one(StepTrack(names));
  EXPECT_EQ(with.loss, 0.5);
  EXPECT_EQ(with.numbers, (std::vector<std::pair<std::string, double>>{{"lr", 0.1}}));
  EXPECT_EQ(without.loss, 0.5);
  EXPECT_TRUE(without.numbers.empty());
}

}  // namespace
}  // namespace trainscope
