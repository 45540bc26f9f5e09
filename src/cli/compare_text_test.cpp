#include "cli/compare_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "base/text.h"
#include "document/document.h"

namespace trainscope {
namespace compare_text_test {

using testing::HasSubstr;
using testing::Not;

ComparedMetric compared(const std::string& name, const std::string& verdict, double a, double b) {
  ComparedMetric metric;
  metric.name = name;
  metric.unit = "1";
  metric.number.a = a;
  metric.number.b = b;
  metric.number.ratio = b / a;
  metric.number.low = 0.9 * b / a;
  metric.number.high = 1.1 * b / a;
  metric.number.p_adjusted = 0.0001;
  metric.number.verdict = verdict;
  return metric;
}

Comparison example() {
  Comparison comparison;
  ComparedRun run{"6a3m0q1v5c", "a|b\nc", "ended", 10, 1, 9, 80, 2, "cpu_bound", "single_thread"};
  comparison.a.runs = {run};
  run.steps.reset();
  comparison.b.runs = {run};
  comparison.speed.sentence =
      "A sentence that is so long that it has to be divided over several "
      "lines, each of which fits into the 80 columns of a terminal.";
  comparison.behaviour.sentence = "The hardware behaves differently.";
  comparison.metrics = {compared("system.cpu.utilization", "lower", 0.756, 0.144),
                        compared("system.memory.utilization", "same", 0.5, 0.5)};
  comparison.warnings = {{"host", "different hosts: x_1 in A, <b> in B"}};
  comparison.explanations = {{"Is training faster?", "no difference", "a test", "p = 0.42"}};
  return comparison;
}

TEST(CompareTextTest, lines_fit_and_the_answers_come_first) {
  const std::string text = comparison_text(example(), {.explain = true});
  for (const std::string_view line : split(text, '\n')) EXPECT_LE(display_width(line), 80U) << line;
  EXPECT_LT(text.find("speed"), text.find("hardware"));
  EXPECT_LT(text.find("warning"), text.find("metric"));
  EXPECT_THAT(text, HasSubstr("75.6 %"));
  EXPECT_THAT(text, HasSubstr("null hypothesis"));
}

TEST(CompareTextTest, a_side_says_how_many_of_its_runs_have_no_steps) {
  const Comparison comparison = example();
  ComparedSide side = comparison.a;
  EXPECT_THAT(side_text(side), HasSubstr(": 80 steps in 8.0 s"));
  side.runs.push_back(comparison.b.runs[0]);
  EXPECT_THAT(side_text(side), HasSubstr(": 16.0 s, 1 of 2 runs without steps"));
  EXPECT_THAT(side_text(comparison.b), HasSubstr(": 8.0 s without steps"));
}

TEST(CompareTextTest, metrics_that_do_not_differ_need_all) {
  EXPECT_THAT(comparison_text(example(), {}), Not(HasSubstr("system.memory.")));
  EXPECT_THAT(comparison_text(example(), {}), HasSubstr("1 metric does not differ"));
  EXPECT_THAT(comparison_text(example(), {.all = true}), HasSubstr("system.memory."));
}

TEST(CompareTextTest, how_many_do_not_differ_fits_a_narrow_terminal) {
  EXPECT_THAT(
      comparison_text(example(), {.width = 40}),
      HasSubstr("\n  1 metric does not differ or cannot be\n  told apart; --all shows them\n"));
}

TEST(CompareTextTest, temperatures_are_shown_as_differences) {
  Comparison comparison = example();
  ComparedMetric metric = compared("hw.temperature", "lower", 89.9, 83.7);
  metric.unit = "Cel";
  metric.number.ratio = metric.number.low = metric.number.high = std::nullopt;
  metric.number.difference = -6.2;
  metric.number.difference_low = -7.4;
  metric.number.difference_high = -5;
  comparison.metrics = {metric};
  EXPECT_THAT(comparison_text(comparison, {}), HasSubstr("-6.2 °C [-7.4, -5.0]"));
  EXPECT_THAT(comparison_markdown(comparison, {}), HasSubstr("| -6.2 °C \\[-7.4, -5.0\\] |"));
}

TEST(CompareTextTest, cost_is_that_of_a_thousand_steps) {
  Comparison comparison = example();
  comparison.cost = compared("train.cost_per_step", "lower", 1e-4, 4e-5).number;
  comparison.currency = "EUR";
  EXPECT_THAT(comparison_text(comparison, {}),
              HasSubstr("0.1 → 0.04 EUR per 1,000 steps, 0.40 [0.36, 0.44]"));
  const Json document = comparison_json(comparison, false);
  EXPECT_EQ(document["cost"]["a"], 1e-4);
  EXPECT_EQ(document["cost"]["currency"], "EUR");
  EXPECT_EQ(document["cost"]["unit"], "EUR/{step}");
  comparison.currency.clear();
  EXPECT_TRUE(comparison_json(comparison, false)["cost"]["currency"].is_null());
  EXPECT_TRUE(comparison_json(example(), false)["cost"].is_null());
}

TEST(CompareTextTest, what_would_tell_is_in_json) {
  Comparison comparison = example();
  comparison.metrics[0].number.values_needed = 300;
  comparison.metrics[0].number.repeats_needed = 7;
  const Json document = comparison_json(comparison, false);
  EXPECT_EQ(document["metrics"][0]["values_needed"], 300);
  EXPECT_EQ(document["metrics"][0]["repeats_needed"], 7);
  EXPECT_TRUE(document["metrics"][1].at("values_needed").is_null());
}

TEST(CompareTextTest, one_step_is_not_plural) {
  Comparison comparison = example();
  comparison.a.runs[0].steps = 1;
  EXPECT_THAT(comparison_text(comparison, {}), HasSubstr(": 1 step in "));
}

TEST(CompareTextTest, a_name_stays_on_its_line) {
  EXPECT_THAT(comparison_text(example(), {}), Not(HasSubstr("b\nc")));
}

TEST(CompareTextTest, markdown_has_a_table_and_no_markup_of_runs) {
  const std::string text = comparison_markdown(example(), {});
  EXPECT_THAT(text, HasSubstr("|---|---:|---:|---:|---:|---|\n"));
  EXPECT_THAT(text,
              HasSubstr("| system.cpu.utilization | 75.6 % | 14.4 % | 0.19 \\[0.17, 0.21\\] |"));
  EXPECT_THAT(text, HasSubstr("a\\|b"));
  EXPECT_THAT(text, HasSubstr("x\\_1 in A, \\<b\\> in B"));
}

TEST(CompareTextTest, markdown_explains_too) {
  Comparison comparison = example();
  comparison.part_rule = "all of it";
  const std::string text = comparison_markdown(comparison, {.explain = true});
  EXPECT_THAT(text, HasSubstr("\n**Is training faster?** Null hypothesis: no difference. Test: a "
                              "test. Result: p = 0.42.\n"));
  EXPECT_THAT(text, HasSubstr("\n**What was compared?** Part of each run: all of it.\n"));
  EXPECT_THAT(comparison_markdown(comparison, {}), Not(HasSubstr("hypothesis")));
}

TEST(CompareTextTest, markdown_names_verdicts_and_cost) {
  Comparison comparison = example();
  EXPECT_THAT(comparison_markdown(comparison, {}),
              HasSubstr("Verdicts: A cpu\\_bound (single\\_thread); B cpu\\_bound"));
  EXPECT_THAT(comparison_markdown(comparison, {}), Not(HasSubstr("Cost: ")));
  comparison.cost = compared("train.cost_per_step", "lower", 1e-4, 4e-5).number;
  comparison.currency = "EUR";
  comparison.energy = compared("train.energy_per_step", "lower", 166, 15.9).number;
  comparison.energy_of = "GPU";
  EXPECT_THAT(comparison_markdown(comparison, {}),
              HasSubstr("\n\nCost: 0.1 → 0.04 EUR per 1,000 steps, 0.40 "));
  EXPECT_THAT(comparison_markdown(comparison, {}),
              HasSubstr("\n\nEnergy: GPU: 166 J → 15.9 J per step, 0.096 "));
}

TEST(CompareTextTest, the_time_to_an_accuracy_is_an_answer_whether_it_differs_or_not) {
  Comparison comparison = example();
  ComparedMetric metric = compared("train.time_to_accuracy", "cannot_tell", 480, 300);
  metric.unit = "s";
  metric.labels = {{"accuracy", "0.95"}, {"set", "test|"}};
  comparison.metrics.push_back(metric);
  EXPECT_THAT(comparison_text(comparison, {}),
              HasSubstr("  accuracy  0.95 (test|) after 8 min → 5 min, 0.62 [0.56, 0.69]\n"));
  EXPECT_THAT(comparison_markdown(comparison, {}),
              HasSubstr("\n\nAccuracy: 0.95 (test\\|) after 8 min → 5 min, 0.62 \\[0.56"));
  comparison.metrics.back().number.low.reset();
  EXPECT_THAT(comparison_text(comparison, {}), HasSubstr("5 min, 0.62\n"));
}

// "--counter 'x:…;unit=|'" and "--tag 'price=2 |'" are as the user wrote them.
TEST(CompareTextTest, units_of_the_user_do_not_end_a_cell) {
  Comparison comparison = example();
  comparison.metrics = {compared("counter.x", "higher", 5, 900)};
  comparison.metrics[0].unit = "|<i>\n";
  EXPECT_THAT(comparison_markdown(comparison, {}), HasSubstr("| 5 \\|\\<i\\>"));
  EXPECT_THAT(comparison_markdown(comparison, {}), Not(HasSubstr(" |<i")));
}

TEST(CompareTextTest, absent_numbers_are_null_in_json) {
  const Json document = comparison_json(example(), false);
  EXPECT_EQ(document["schema"], "trainscope.compare/1");
  EXPECT_TRUE(document["speed"]["ratio"].is_null());
  EXPECT_TRUE(document["energy"].is_null());
  EXPECT_TRUE(document["metrics"][0]["difference"].is_null());
  EXPECT_EQ(document["metrics"][0]["b"], 0.144);
  EXPECT_EQ(document["a"]["runs"], Json::array({"6a3m0q1v5c"}));
  EXPECT_FALSE(document.contains("explanation"));
  EXPECT_EQ(comparison_json(example(), true)["explanation"][0]["result"], "p = 0.42");
}

}  // namespace compare_text_test
}  // namespace trainscope
