#include "record/sample/shared_steps.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "testing/listed_reports.h"

namespace trainscope {
namespace shared_steps_test {

// Lines "TIME_NS SOURCE REPORT", counted as they arrive.
class Arrivals {
 public:
  explicit Arrivals(const std::vector<std::string>& lines) {
    steps_->begin();
    for (const std::string& line : lines) {
      const auto stored = parse_stored_report(line);
      EXPECT_TRUE(stored) << line;
      steps_->add(std::stoll(line), stored->source, stored->report);
      stored_.push_back(*stored);
    }
    steps_->end();
  }
  bool is_known() const { return steps_->is_known(); }
  std::optional<int64_t> count(bool is_output_refused = false) const {
    return steps_->count(is_output_refused);
  }
  std::optional<double> steps_per_s() const { return steps_->steps_per_s(false); }
  std::optional<double> steps_per_s_stored() const { return read_listed(stored_, 100).steps_per_s; }
  // What a reader of the run finds.
  std::optional<int64_t> count_stored() const { return read_listed(stored_, 100).count; }

 private:
  std::unique_ptr<SharedSteps> steps_ = std::make_unique<SharedSteps>();
  std::vector<StoredReport> stored_;
};

TEST(shared_steps, count_as_a_reader_of_the_run_does) {
  const std::vector<std::vector<std::string>> cases = {
      {},
      {"1 pipe phase input 0.1", "2 pipe epoch 1"},
      {"1 pipe step 10", "2 pipe step 20", "3 pipe step 30"},
      {"1 pipe step 9", "2 pipe step 19", "3 pipe step 29"},
      {"1 pipe step", "2 pipe step", "3 output step 5", "4 output step 6", "5 output step 7"},
      {"1 output step 1", "2 output step 2", "2 tensorboard step 2 loss=1"},
      {"1 output step 1", "2 tensorboard step 2 loss=1"},
      {"1 tensorboard step 1 lr=1", "1 tensorboard step 1 loss=1", "2 tensorboard step 2 loss=1",
       "3 tensorboard step 2 lr=1", "3 tensorboard step 3 loss=1"},
      {"1 pipe step 1 who=a", "2 pipe step 1 who=b", "3 pipe step 2 who=b"},
      {"1 pipe step 1 who=a", "2 pipe step 2 who=a", "3 pipe step 7"},
      {"1 output step 1 epoch=1 of=32", "2 output step 32 epoch=1 of=32",
       "3 output step 9 epoch=2 of=32"},
      {"1 output step 0 of=32"},
      {"1 pipe step 7", "2 pipe step 1 set=validation", "3 pipe step set=val", "4 pipe step 8"},
  };
  for (const auto& lines : cases) {
    const Arrivals arrivals(lines);
    SCOPED_TRACE(lines.empty() ? "" : lines[0]);
    EXPECT_TRUE(arrivals.is_known());
    EXPECT_EQ(arrivals.count(), arrivals.count_stored());
  }
}

TEST(shared_steps, are_as_fast_as_a_reader_of_the_run_finds) {
  const Arrivals tens(
      {"2000000000 pipe step 10", "3000000000 pipe step 20", "4000000000 pipe step 30"});
  ASSERT_TRUE(tens.steps_per_s());
  EXPECT_NEAR(*tens.steps_per_s(), 10, 1e-9);
  EXPECT_EQ(tens.steps_per_s(), tens.steps_per_s_stored());
  const Arrivals epochs({"1000000000 output step 16 epoch=1 of=32",
                         "2000000000 output step 32 epoch=1 of=32",
                         "3000000000 output step 16 epoch=2 of=32"});
  ASSERT_TRUE(epochs.steps_per_s());
  EXPECT_NEAR(*epochs.steps_per_s(), 16, 1e-9);
  EXPECT_EQ(epochs.steps_per_s(), epochs.steps_per_s_stored());
  EXPECT_FALSE(Arrivals({"5 pipe step 1"}).steps_per_s());
}

TEST(shared_steps, printed_steps_that_are_refused_do_not_count) {
  const Arrivals both({"1 output step 1", "2 output step 2", "3 tensorboard step 1 loss=1"});
  EXPECT_EQ(both.count(false), 2);
  EXPECT_EQ(both.count(true), 1);
  EXPECT_FALSE(Arrivals({"1 output step 1"}).count(true));
}

TEST(shared_steps, tracks_may_be_late_but_not_out_of_order) {
  EXPECT_TRUE(Arrivals({"9 pipe step 1", "1 tensorboard step 1 loss=1"}).is_known());
  EXPECT_FALSE(Arrivals({"2 pipe step 2", "1 pipe step 1"}).is_known());
  EXPECT_FALSE(Arrivals({"1 tensorboard step 1 loss=1", "1 tensorboard step 2 loss=1",
                         "1 tensorboard step 1 loss=1"})
                   .is_known())
      << "read again";
}

TEST(shared_steps, a_recorder_that_died_while_it_counted_leaves_no_count) {
  SharedSteps steps;
  steps.begin();
  EXPECT_FALSE(steps.is_known());
  steps.end();
  EXPECT_TRUE(steps.is_known());
  steps.begin();  // and dies
  steps.begin();  // another recorder
  steps.end();
  EXPECT_FALSE(steps.is_known());
}

TEST(shared_steps, more_tracks_than_fit_leave_no_count) {
  std::vector<std::string> lines;
  for (int i = 0; i < 200; ++i) lines.push_back(fmt::format("{} pipe step 1 who=sender{}", i, i));
  EXPECT_FALSE(Arrivals(lines).is_known());
}

}  // namespace shared_steps_test
}  // namespace trainscope
