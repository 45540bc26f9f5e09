#include <gtest/gtest.h>

#include "analyze/analyze.h"
#include "analyze/support/confidence.h"
#include "testing/fake_run.h"
#include "testing/listed_reports.h"

namespace trainscope {
namespace diagnose_group_test {

// A rank that needs `own_s` of each step of `step_s` for itself and communicates for the rest.
RankDiagnosis rank_of(int64_t rank, double step_s, double own_s,
                      const std::string& verdict = "cpu_bound") {
  RankDiagnosis made;
  made.rank = rank;
  made.run = "run" + std::to_string(rank);
  made.step_s = step_s;
  made.communication_s = step_s - own_s;
  made.steps = 100;
  made.diagnosis.verdict = verdict;
  made.diagnosis.confidence = 0.9;
  made.diagnosis.sentence = "why";
  made.diagnosis.breakdown = {{"communication", 1 - own_s / step_s, 100 * (step_s - own_s)},
                              {"host work", own_s / step_s, 100 * own_s}};
  return made;
}

std::vector<RankDiagnosis> synchronised(const std::vector<double>& own) {
  std::vector<RankDiagnosis> ranks;
  for (size_t i = 0; i < own.size(); ++i) {
    ranks.push_back(rank_of(static_cast<int64_t>(i), 0.1, own[i]));
  }
  return ranks;
}

std::string ids(const Diagnosis& diagnosis) {
  std::string text;
  for (const Finding& finding : diagnosis.findings) text += finding.id + " ";
  return text;
}

TEST(DiagnoseGroup, the_rank_that_waits_least_is_the_straggler) {
  const GroupDiagnosis group = diagnose_together(synchronised({0.031, 0.03, 0.095, 0.032}));
  EXPECT_EQ(group.together.verdict, "communication_bound");
  ASSERT_EQ(ids(group.together), "straggler ");
  const Finding& finding = group.together.findings[0];
  EXPECT_TRUE(finding.summary.starts_with("rank 2 needs 95 ms")) << finding.summary;
  EXPECT_EQ(finding.severity, "critical");
  EXPECT_NEAR(*finding.max_speedup, 0.1 / (0.1 - 0.063), 1e-9) << "as fast as the next one";
  EXPECT_NE(finding.advice.find("diagnose run2"), std::string::npos);
  ASSERT_EQ(group.together.alternatives.size(), 1U);
  EXPECT_EQ(group.together.alternatives[0].verdict, "cpu_bound");
  EXPECT_LE(group.together.alternatives[0].confidence + group.together.confidence, 1);
}

TEST(DiagnoseGroup, that_nothing_is_known_of_a_straggler_is_no_evidence) {
  std::vector<RankDiagnosis> ranks = synchronised({0.031, 0.03, 0.095, 0.032});
  EXPECT_EQ(diagnose_together(ranks).together.findings.at(0).evidence.at(0),
            "rank 2 (run run2): 95 ms per step; why");
  ranks[2].diagnosis.verdict = "unknown";
  EXPECT_EQ(diagnose_together(ranks).together.findings.at(0).evidence.at(0),
            "rank 2 (run run2): 95 ms per step");
}

// One slow node, or two slow ranks: they do not hide each other.
TEST(DiagnoseGroup, stragglers_that_are_equally_slow_are_all_named) {
  std::vector<RankDiagnosis> ranks = synchronised({0.03, 0.095, 0.03, 0.094, 0.03});
  const Diagnosis two = diagnose_together(ranks).together;
  EXPECT_EQ(two.verdict, "communication_bound");
  ASSERT_EQ(ids(two), "straggler ");
  EXPECT_EQ(two.findings[0].summary,
            "ranks 1 and 3 need up to 95 ms per step for their own work, the median rank 30 ms");
  EXPECT_NEAR(*two.findings[0].max_speedup, 0.1 / (0.1 - 0.065), 1e-9) << "as fast as the others";
  // A rank that is only a little slower than the others is not one of them.
  const Diagnosis one = diagnose_together(synchronised({0.03, 0.03, 0.03, 0.034, 0.095})).together;
  ASSERT_EQ(ids(one), "straggler ");
  EXPECT_TRUE(one.findings[0].summary.starts_with("rank 4 needs 95 ms"));

  std::vector<double> own(64, 0.03);
  for (size_t i = 8; i < 16; ++i) own[i] = 0.09;
  ranks = synchronised(own);
  for (size_t i = 0; i < ranks.size(); ++i) ranks[i].host = "n" + std::to_string(i / 8);
  const Diagnosis node = diagnose_together(ranks).together;
  ASSERT_EQ(ids(node), "straggler ");
  EXPECT_TRUE(
      node.findings[0].summary.starts_with("ranks 8, 9, 10 and 5 more, on host n1, need up to"))
      << node.findings[0].summary;
}

TEST(DiagnoseGroup, half_of_the_ranks_are_no_stragglers_but_imbalance) {
  EXPECT_EQ(ids(diagnose_together(synchronised({0.03, 0.03, 0.095, 0.095})).together),
            "imbalance ");
  EXPECT_EQ(ids(diagnose_together(synchronised({0.03, 0.095, 0.095})).together), "imbalance ");
}

TEST(DiagnoseGroup, ranks_that_are_alike_have_their_own_verdict) {
  const GroupDiagnosis group = diagnose_together(synchronised({0.095, 0.096, 0.097, 0.095}));
  EXPECT_EQ(group.together.verdict, "cpu_bound");
  EXPECT_EQ(ids(group.together), "");
  EXPECT_NEAR(group.together.confidence, 0.9, 1e-9);
  EXPECT_TRUE(group.together.missing.empty());
}

TEST(DiagnoseGroup, a_small_lead_is_no_straggler_however_even_the_others_are) {
  EXPECT_EQ(ids(diagnose_together(synchronised({0.09, 0.09, 0.09, 0.096})).together), "");
}

TEST(DiagnoseGroup, work_that_differs_everywhere_is_imbalance) {
  EXPECT_EQ(ids(diagnose_together(synchronised({0.04, 0.055, 0.075, 0.095})).together),
            "imbalance ");
  // Two ranks have no median that one of them could be far from.
  const GroupDiagnosis two = diagnose_together(synchronised({0.095, 0.03}));
  ASSERT_EQ(ids(two.together), "imbalance ");
  EXPECT_NEAR(*two.together.findings[0].max_speedup, 0.1 / (0.1 - 0.0325), 1e-9);
}

TEST(DiagnoseGroup, an_exchange_that_all_ranks_take_part_in_is_no_waiting) {
  const GroupDiagnosis group = diagnose_together(synchronised({0.06, 0.061, 0.06}));
  EXPECT_EQ(ids(group.together), "collectives ");
  ASSERT_EQ(group.together.breakdown.size(), 2U);
  EXPECT_EQ(group.together.breakdown[0].part, "communication");
  EXPECT_NEAR(group.together.breakdown[0].share, 1 - 0.181 / 0.3, 1e-9);
}

TEST(DiagnoseGroup, without_communication_phases_steps_are_compared) {
  std::vector<RankDiagnosis> ranks = {rank_of(0, 0.02, 0.02), rank_of(1, 0.02, 0.02),
                                      rank_of(2, 0.06, 0.06)};
  ranks[1].communication_s.reset();
  EXPECT_EQ(ids(diagnose_together(ranks).together), "straggler ");
  ranks[2] = rank_of(2, 0.02, 0.005);
  const Diagnosis alike = diagnose_together(ranks).together;
  EXPECT_EQ(ids(alike), "") << "whose communication is known does not matter";
  EXPECT_EQ(alike.missing.size(), 1U);
}

TEST(DiagnoseGroup, ranks_without_a_verdict_in_common_are_unknown) {
  std::vector<RankDiagnosis> ranks = {rank_of(0, 0.1, 0.095, "cpu_bound"),
                                      rank_of(1, 0.1, 0.095, "input_bound")};
  const Diagnosis divided = diagnose_together(ranks).together;
  EXPECT_EQ(divided.verdict, "unknown");
  EXPECT_EQ(divided.confidence, 0);
  EXPECT_EQ(divided.alternatives.size(), 2U);
  ranks.push_back(rank_of(2, 0.1, 0.095, "cpu_bound"));
  EXPECT_EQ(diagnose_together(ranks).together.verdict, "cpu_bound");
}

TEST(DiagnoseGroup, a_rank_that_cannot_be_read_is_stated) {
  std::vector<RankDiagnosis> ranks = synchronised({0.095, 0.095});
  RankDiagnosis unread;
  unread.rank = 2;
  unread.problem = "damaged";
  ranks.push_back(unread);
  const Diagnosis together = diagnose_together(ranks).together;
  EXPECT_EQ(together.verdict, "cpu_bound");
  ASSERT_EQ(together.missing.size(), 1U);
  EXPECT_EQ(together.missing[0], "rank 2: damaged");
  EXPECT_EQ(diagnose_together({unread}).together.verdict, "unknown");
}

TEST(DiagnoseGroup, a_rank_without_machine_metrics_does_not_vote_for_the_processor) {
  std::vector<RankDiagnosis> ranks = {rank_of(0, 0.1, 0.095, "gpu_bound"), rank_of(1, 0.1, 0.095),
                                      rank_of(2, 0.1, 0.095)};
  EXPECT_EQ(diagnose_together(ranks).together.verdict, "cpu_bound");
  ranks[1].has_machine_metrics = ranks[2].has_machine_metrics = false;
  const Diagnosis together = diagnose_together(ranks).together;
  EXPECT_EQ(together.verdict, "unknown");
  ASSERT_EQ(together.missing.size(), 1U);
  EXPECT_TRUE(together.missing[0].starts_with("metrics of all machines")) << together.missing[0];

  FakeRun run(0.1, 7);
  EXPECT_FALSE(diagnose_rank(run)->has_machine_metrics);
  run.add("system.memory.usage", {}, Kind::gauge, {0, 7}, {1, 1});
  EXPECT_TRUE(diagnose_rank(run)->has_machine_metrics);
}

TEST(DiagnoseGroup, a_group_has_the_limit_that_a_rank_came_closest_to) {
  std::vector<RankDiagnosis> ranks = synchronised({0.095, 0.095, 0.095});
  ranks[0].diagnosis.limits = {{"disk.read.sequential", 100, 1000, "By/s", ""}};
  ranks[1].diagnosis.limits = {{"disk.read.sequential", 90, 300, "By/s", ""}};
  ranks[2].diagnosis.limits = {{"cpu.single", 1, 2, "1", ""}};
  const std::vector<ReachedLimit> limits = diagnose_together(ranks).together.limits;
  ASSERT_EQ(limits.size(), 2U);
  EXPECT_EQ(limits[0].reached, 90);
  EXPECT_EQ(limits[1].name, "cpu.single");
}

// Those of a machine that was measured after the run.
TEST(DiagnoseGroup, a_rank_is_compared_with_the_limits_that_are_given) {
  FakeRun run(0.1, 20);
  std::vector<double> times, values;
  for (int i = 0; i <= 200; ++i) {
    times.push_back(i * 0.1);
    values.push_back(i * 0.1);
  }
  run.add("hw.gpu.pcie.io", {{"direction", "receive"}, {"gpu", "0"}}, Kind::counter, times, values);
  MachineLimits measured;
  Limit& limit = measured.limits.emplace_back();
  limit.name = "gpu.copy.host_to_device";
  limit.unit = "By/s";
  limit.value = 2;
  EXPECT_TRUE(diagnose_rank(run)->diagnosis.limits.empty());
  const auto rank = diagnose_rank(run, &measured);
  ASSERT_EQ(rank->diagnosis.limits.size(), 1U);
  EXPECT_NEAR(rank->diagnosis.limits[0].reached, 1, 1e-9);
}

// One scale for what one rank and what the ranks together say.
TEST(DiagnoseGroup, the_confidence_of_a_group_is_that_of_its_score) {
  const Diagnosis together = diagnose_together(synchronised({0.031, 0.03, 0.095, 0.032})).together;
  EXPECT_EQ(together.confidence, confidence_of(together.score));
  EXPECT_EQ(together.findings[0].confidence, confidence_of(together.score));
}

// A compilation in the first step, during which the other ranks wait, is not part of the
// comparison.
TEST(DiagnoseGroup, communication_of_the_warm_up_does_not_count) {
  std::vector<std::string> lines = {"5 pipe phase communication 5", "5 pipe step 1"};
  for (int i = 2; i <= 20; ++i) {
    const double end_s = 5 + 0.1 * (i - 1);
    lines.push_back(std::to_string(end_s) + " pipe phase communication 0.02");
    lines.push_back(std::to_string(end_s) + " pipe step " + std::to_string(i));
  }
  FakeRun run(0.1, 7);
  run.set_training(read_lines(lines, 7));
  const auto rank = diagnose_rank(run);
  ASSERT_TRUE(rank);
  EXPECT_NEAR(*rank->step_s, 0.1, 1e-9);
  EXPECT_NEAR(*rank->communication_s, 0.02, 1e-9);
}

}  // namespace diagnose_group_test
}  // namespace trainscope
