#include <gtest/gtest.h>

#include "base/json.h"
#include "document/document.h"
#include "testing/fake_run.h"

namespace trainscope {
namespace marks_test {

TEST(MarksJson, of_very_many_gaps_the_longest_are_kept_and_the_others_are_counted) {
  FakeRun run(0.1, 1e6);
  for (int i = 0; i < 2003; ++i) {
    const bool is_short = i < 3;
    run.add_gap({i * 100.0, i * 100.0 + (is_short ? 1 : 50), "busy machine"});
  }
  const auto marks = marks_json(run);
  ASSERT_TRUE(marks);
  ASSERT_EQ((*marks)["gaps"].size(), 2000U);
  EXPECT_EQ((*marks)["left_out_gaps"], 3);
  EXPECT_EQ((*marks)["gaps"].front()["from_s"], 300) << "the three short ones are left out";
  EXPECT_EQ((*marks)["gaps"].back()["from_s"], 200'200);
}

TEST(MarksJson, a_few_gaps_are_all_there) {
  FakeRun run(0.1, 1e6);
  run.add_gap({7, 8, "suspended"});
  const auto marks = marks_json(run);
  ASSERT_TRUE(marks);
  ASSERT_EQ((*marks)["gaps"].size(), 1U);
  EXPECT_EQ((*marks)["gaps"][0]["reason"], "suspended");
  EXPECT_EQ((*marks)["left_out_gaps"], 0);
}

TEST(MarksJson, what_only_programs_look_up_is_no_mark) {
  FakeRun run(0.1, 10);
  run.add_event({0, "process", "pid 5, start 6, PID namespace 7"});
  run.add_event({1, "mark", "begin"});
  const auto marks = marks_json(run);
  ASSERT_TRUE(marks);
  ASSERT_EQ((*marks)["events"].size(), 1U);
  EXPECT_EQ((*marks)["events"][0]["kind"], "mark");
  EXPECT_EQ((*marks)["left_out_events"], 0);
}

TEST(MarksJson, events_of_very_many_gaps_leave_space_for_the_others) {
  FakeRun run(0.1, 1e6);
  for (int i = 0; i < 2500; ++i) run.add_event({i * 1.0, "gap", "busy machine"});
  run.add_event({3000, "mark", "late"});
  const auto marks = marks_json(run);
  ASSERT_TRUE(marks);
  ASSERT_EQ((*marks)["events"].size(), 2000U);
  EXPECT_EQ((*marks)["events"].back()["text"], "late");
  EXPECT_EQ((*marks)["events"][0]["time_s"], 0);
  EXPECT_EQ((*marks)["left_out_events"], 501);
}

}  // namespace marks_test
}  // namespace trainscope
