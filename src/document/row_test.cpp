#include <gtest/gtest.h>

#include "base/json.h"
#include "document/document.h"
#include "testing/fake_run.h"
#include "testing/listed_reports.h"

namespace trainscope {
namespace row_test {

constexpr double kDurationS = 6;

// Its series are those of the training.
class ReportedRun : public FakeRun {
 public:
  explicit ReportedRun(const std::vector<std::string>& lines) : FakeRun(0.1, kDurationS) {
    set_training(read_lines(lines, kDurationS));
  }
  const std::vector<Series>& recorded_series() const override { return none_; }

 private:
  std::vector<Series> none_;
};

class TrainedRun : public ReportedRun {
 public:
  // One line "TIME_S SOURCE REPORT" each, and the losses among them once more.
  TrainedRun(const std::vector<std::string>& lines, const std::vector<double>& times,
             const std::vector<double>& losses)
      : ReportedRun(lines) {
    add("train.loss", {{"set", "train"}, {"source", "pipe"}}, Kind::gauge, times, losses);
  }
};

Json losses_of(const TrainedRun& run) {
  const auto row = row_json(run);
  CHECK(row);
  return (*row)["loss"];
}

TEST(row, has_the_loss_that_came_in_after_the_end_of_the_job) {
  const TrainedRun run({"1 pipe step 1 loss=3", "6.25 pipe step 2 loss=2"}, {1, 6.25}, {3, 2});
  EXPECT_EQ(losses_of(run), Json({3, 2}));
}

TEST(row, has_the_loss_at_an_end_that_rounding_would_leave_out) {
  const double end_s = 7.7;
  ASSERT_LT(end_s / 60 * 60, end_s);
  const TrainedRun run({"1 pipe step 1 loss=3", "7.7 pipe step 2 loss=2"}, {1, end_s}, {3, 2});
  EXPECT_EQ(losses_of(run), Json({3, 2}));
}

TEST(row, has_the_loss_of_the_steps_and_not_the_one_that_is_printed_now_and_then) {
  ReportedRun run({"1 pipe step 1 loss=3", "2 pipe step 2 loss=2"});
  const auto add = [&](const char* set, const char* source, double loss) {
    run.add("train.loss", {{"set", set}, {"source", source}}, Kind::gauge, {1}, {loss});
  };
  add("train", "output", 4);
  add("test", "pipe", 5);
  EXPECT_EQ((*row_json(run))["loss"], Json({4}));
  add("train", "pipe", 3);
  EXPECT_EQ((*row_json(run))["loss"], Json({3}));
}

TEST(row, has_the_loss_of_an_epoch_that_came_in_after_the_end_of_the_job) {
  const TrainedRun run({"1 pipe epoch 1 loss=3", "6.25 pipe epoch 2 loss=2"}, {1, 6.25}, {3, 2});
  EXPECT_EQ(losses_of(run), Json({3, 2}));
}

}  // namespace row_test
}  // namespace trainscope
