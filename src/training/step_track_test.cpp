#include "training/step_track.h"

#include <gtest/gtest.h>

namespace trainscope {
namespace step_track_test {

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

TEST(StepTrack, a_step_that_is_reported_forever_with_new_names_has_a_limit) {
  StepTrack with(ValueNames{}, StepNumbers::present), without;
  for (StepTrack* track : {&with, &without}) {
    track->add(1, *parse_report("step 1 lr=0.1"));
    for (size_t i = 0; i < StepTrack::kMaxRepeatedNames + 5; ++i) {
      track->add(1, *parse_report("step 1 lr=0.2 n" + std::to_string(i) + "=1"));
    }
    EXPECT_EQ(track->left_out(), 6) << "lr is one of the names";
    track->add(2, *parse_report("step 2 new=1"));
    track->add(2, *parse_report("step 2 newer=1"));
    EXPECT_EQ(track->left_out(), 6);
  }
  EXPECT_EQ(with.finish()->numbers.size(), 2U);
}

}  // namespace step_track_test
}  // namespace trainscope
