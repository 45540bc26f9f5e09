#include "cli/group_text.h"

#include <gtest/gtest.h>

#include <string>

#include "base/json.h"

namespace trainscope {
namespace group_text_test {

GroupMember member(int64_t number, GroupKind kind, std::optional<double> duration_s,
                   std::optional<double> step_s) {
  GroupMember made;
  Manifest& m = made.run.manifest;
  m.id = "000000000" + std::to_string(number);
  m.started = "2026-01-02T03:04:05.000Z";
  m.command = {"train"};
  m.host_name = "node1";
  m.boot_id = "boot";
  m.ended_by = EndedBy::exit;
  m.exit_code = 0;
  if (kind == GroupKind::ranks) {
    m.rank = m.local_rank = number;
    m.records_machine = number == 0;
  } else {
    m.repeat = {"repeat-x", number, 3};
  }
  made.values[kDurationMeasure] = duration_s;
  made.values[kStepTimeMeasure] = step_s;
  return made;
}

GroupSummary summary_of(GroupKind kind, std::vector<GroupMember> members, int64_t size) {
  return summarize_group({"group", kind, size, {}}, std::move(members));
}

TEST(group_summary, mean_and_spread_over_repeats) {
  const auto kind = GroupKind::repeats;
  const GroupSummary summary =
      summary_of(kind, {member(1, kind, 2, {}), member(2, kind, 4, {}), member(3, kind, 9, {})}, 3);
  const Spread& spread = summary.spreads[kDurationMeasure];
  EXPECT_EQ(spread.count, 3U);
  EXPECT_EQ(spread.mean, 5);
  EXPECT_EQ(spread.median, 4);
  EXPECT_EQ(spread.min, 2);
  EXPECT_EQ(spread.max, 9);
  EXPECT_DOUBLE_EQ(*spread.standard_deviation * *spread.standard_deviation, 13);
  EXPECT_EQ(summary.spreads[kStepTimeMeasure].count, 0U);
  EXPECT_FALSE(summary.slowest);
  const std::string text = group_text(summary, {});
  EXPECT_NE(text.find("group group, 3 repeats"), std::string::npos) << text;
  EXPECT_NE(text.find("standard deviation"), std::string::npos) << text;
  EXPECT_EQ(text.find("step time p50"), std::string::npos) << text;
}

TEST(group_summary, a_single_repeat_has_no_spread) {
  const auto kind = GroupKind::repeats;
  const GroupSummary summary = summary_of(kind, {member(1, kind, 2, {})}, 3);
  EXPECT_FALSE(summary.spreads[kDurationMeasure].standard_deviation);
  const std::string text = group_text(summary, {});
  EXPECT_NE(text.find("1 of 3 repeats"), std::string::npos) << text;
  EXPECT_NE(text.find("unknown: only 1 repeat was recorded"), std::string::npos) << text;
}

TEST(group_summary, the_slowest_rank_is_that_with_the_longest_steps) {
  const auto kind = GroupKind::ranks;
  GroupSummary summary = summary_of(kind,
                                    {member(0, kind, 9, 0.1), member(1, kind, 2, 0.4),
                                     member(2, kind, 4, 0.2), member(3, kind, 5, 0.1)},
                                    4);
  ASSERT_TRUE(summary.slowest);
  EXPECT_EQ(summary.slowest->member, 1U);
  EXPECT_EQ(summary.slowest->measure.key, "step_p50_s");
  EXPECT_DOUBLE_EQ(summary.slowest->median, 0.15);
  const std::string text = group_text(summary, {});
  EXPECT_NE(text.find("rank 1 (run 0000000001): step time p50 400 ms, median 150 ms (167% more)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("metrics of node1 are in run 0000000000 (rank 0)"), std::string::npos)
      << text;
}

TEST(group_summary, without_steps_the_longest_run_is_the_slowest) {
  const auto kind = GroupKind::ranks;
  const GroupSummary summary =
      summary_of(kind, {member(0, kind, 2, {}), member(1, kind, 3, 0.1)}, 2);
  ASSERT_TRUE(summary.slowest);
  EXPECT_EQ(summary.slowest->member, 1U);
  EXPECT_EQ(summary.slowest->measure.key, "duration_s");
  EXPECT_FALSE(summary_of(kind, {member(0, kind, 2, 1), member(1, kind, 3, 1)}, 2).slowest);
  EXPECT_FALSE(summary_of(kind, {member(0, kind, 2, 1)}, 2).slowest);
}

// Where ranks wait for each other every step, all steps take the same time: the slow rank is the
// one with the most own work.
TEST(group_summary, jitter_makes_no_rank_the_slowest) {
  const auto kind = GroupKind::ranks;
  std::vector<GroupMember> members = {member(0, kind, 9, 0.025), member(1, kind, 9, 0.0250004),
                                      member(2, kind, 9, 0.025)};
  EXPECT_FALSE(summary_of(kind, members, 3).slowest);
  members[0].own_step_s = members[1].own_step_s = 0.008;
  EXPECT_FALSE(summary_of(kind, members, 3).slowest) << "not known of all";
  members[2].own_step_s = 0.024;
  const GroupSummary summary = summary_of(kind, members, 3);
  ASSERT_TRUE(summary.slowest);
  EXPECT_EQ(summary.slowest->member, 2U);
  EXPECT_NE(group_text(summary, {})
                .find("rank 2 (run 0000000002): own work per step 24 ms, median "
                      "8 ms (200% more)"),
            std::string::npos)
      << group_text(summary, {});
  EXPECT_EQ(group_document(summary)["slowest"]["by"], "own_step_s");
}

TEST(group_summary, the_document_has_every_key) {
  const auto kind = GroupKind::ranks;
  GroupMember damaged = member(1, kind, {}, {});
  damaged.run.status = RunStatus::damaged;
  damaged.run.problem = "bad";
  const Json json = group_document(summary_of(kind, {member(0, kind, 2, 1), damaged}, 2));
  EXPECT_EQ(json["schema"], "trainscope.group/1");
  EXPECT_EQ(json["group"]["kind"], "ranks");
  EXPECT_EQ(json["measures"].size(), kGroupMeasures.size());
  EXPECT_TRUE(json["measures"][1]["mean"].is_null());
  EXPECT_EQ(json["measures"][0]["runs"], 1);
  EXPECT_TRUE(json["runs"][1]["duration_s"].is_null());
  EXPECT_EQ(json["runs"][1]["problem"], "bad");
  EXPECT_EQ(json["runs"][1]["machine_metrics_run"], "0000000000");
}

}  // namespace group_text_test
}  // namespace trainscope
