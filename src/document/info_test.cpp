#include <gtest/gtest.h>

#include "base/json.h"
#include "document/document.h"
#include "testing/fake_run.h"
#include "testing/listed_reports.h"

namespace trainscope {
namespace info_test {

Json info_of(std::vector<StoredReport> reports) {
  FakeRun run(0.1, 1e6);
  run.set_training(read_listed(std::move(reports), 1e6));
  auto document = info_json(run, false);
  CHECK(document);
  return *document;
}

TEST(InfoJson, lists_every_checkpoint_but_no_phase_of_each_step) {
  std::vector<StoredReport> reports;
  for (int i = 1; i <= 1001; ++i) {
    reports.push_back({i * 1.0, "pipe", *parse_report("phase checkpoint 0.25")});
    reports.push_back({i * 1.0, "pipe", *parse_report("phase copy 0.25")});
    reports.push_back({i + 0.5, "pipe", *parse_report("step")});
  }
  reports.push_back({2000, "pipe", *parse_report("begin export")});
  const Json info = info_of(std::move(reports));
  ASSERT_EQ(info["phases"].size(), 1002U);
  EXPECT_EQ(info["phases"][0]["name"], "checkpoint");
  EXPECT_EQ(info["phases"][0]["from_s"], 0.75);
  EXPECT_EQ(info["phases"][0]["to_s"], 1);
  EXPECT_EQ(info["phases"].back()["name"], "export");
  EXPECT_TRUE(info["phases"].back()["to_s"].is_null()) << "the run ended within it";
  EXPECT_EQ(info["pauses"].size(), 1001U);
}

TEST(InfoJson, learning_has_one_entry_per_set) {
  const Json learning = info_of({{1, "pipe", *parse_report("step 1 loss=2 accuracy=0.5")},
                                 {2, "pipe", *parse_report("epoch 1 val_loss=3")}})["learning"];
  ASSERT_EQ(learning.size(), 2U);
  EXPECT_EQ(learning[0]["set"], "train");
  EXPECT_EQ(learning[0]["loss"], 2);
  EXPECT_EQ(learning[0]["best_accuracy"], 0.5);
  EXPECT_EQ(learning[0]["milestones"][0]["step"], 1);
  EXPECT_EQ(learning[1]["set"], "validation");
  EXPECT_EQ(learning[1]["loss"], 3);
  EXPECT_TRUE(learning[1]["accuracy"].is_null());
  EXPECT_TRUE(learning[1]["best_time_s"].is_null());
}

}  // namespace info_test
}  // namespace trainscope
