#include <gtest/gtest.h>

#include <algorithm>

#include "analyze/analyze.h"

namespace trainscope {
namespace tables_test {

TEST(Tables, of_findings_know_each_kind_of_pause) {
  ASSERT_NE(find_other_finding("pauses_input"), nullptr);
  EXPECT_EQ(find_other_finding("pauses_input")->id, "pauses_*");
  EXPECT_EQ(find_other_finding("startup_checkpoint")->id, "startup_*");
  EXPECT_EQ(find_other_finding("startup")->id, "startup");
  EXPECT_EQ(find_other_finding("input_wait"), nullptr);
}

TEST(Tables, of_causes_are_about_verdicts_of_rules) {
  for (const Cause& cause : causes()) {
    const auto all = rules();
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const Rule* rule) {
      return rule->verdict == cause.verdict;
    })) << cause.verdict;
  }
}

TEST(Tables, every_rule_states_what_it_needs) {
  for (const Rule* rule : rules()) EXPECT_EQ(needs_of_rule(rule->name), rule->needs);
  EXPECT_TRUE(needs_of_rule("straggler").starts_with("steps of at least 3 ranks"));
  EXPECT_EQ(needs_of_rule("nobody"), "");
}

}  // namespace tables_test
}  // namespace trainscope
