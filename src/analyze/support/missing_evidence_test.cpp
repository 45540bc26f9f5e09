#include "analyze/support/planted_run.h"

namespace trainscope {
namespace missing_evidence_test {

TEST(MissingEvidence, of_a_damaged_run_is_what_was_lost) {
  const auto missing = [](const std::vector<Gap>& gaps) {
    FakeRun run(0.1, 10);
    for (const Gap& gap : gaps) run.add_gap(gap);
    const auto d = diagnose(run);
    return d ? d->missing.at(0) : "";
  };
  const Gap paused{1, 2, "the recorder was stopped"};
  const Gap torn{2, 3, "samples-0001.seg: damaged frame at offset 76", true};
  EXPECT_EQ(missing({paused, torn}), "what is lost because the run is damaged: " + torn.reason);
  EXPECT_EQ(missing({torn, torn}),
            "what is lost because the run is damaged in 2 places: " + torn.reason);
  EXPECT_EQ(missing({paused}).find("damaged"), std::string::npos);
}

}  // namespace missing_evidence_test
}  // namespace trainscope
