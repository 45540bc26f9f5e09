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

// Others would make the means of a run infinite, and a difference from them no number.
TEST(StepTrack, a_duration_that_no_step_can_have_is_unknown) {
  const auto duration_of = [](const std::string& text) {
    StepTrack track{ValueNames{}};
    track.add(1, *parse_report("step 1 duration=" + text));
    return track.finish()->duration_s;
  };
  EXPECT_EQ(duration_of("0"), 0);
  EXPECT_EQ(duration_of("86400"), 86400);
  for (const char* wrong : {"-1", "nan", "inf", "1e10", "1e300"}) {
    EXPECT_FALSE(duration_of(wrong)) << wrong;
  }
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
