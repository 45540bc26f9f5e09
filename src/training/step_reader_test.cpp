#include "training/step_reader.h"

#include <gtest/gtest.h>

#include "testing/listed_reports.h"

namespace trainscope {
namespace step_reader_test {

// How far the first step makes its reader read.
class CountingReports : public Reports {
 public:
  CountingReports(std::vector<StoredReport> all, size_t* most_read)
      : all_(std::move(all)), most_read_(most_read) {}
  std::unique_ptr<Reader<StoredReport>> read(ReportsWanted wanted) const override {
    return std::make_unique<CountingReader>(all_.read(wanted), most_read_);
  }

 private:
  class CountingReader : public Reader<StoredReport> {
   public:
    CountingReader(std::unique_ptr<Reader<StoredReport>> all, size_t* most_read)
        : all_(std::move(all)), most_read_(most_read) {}
    Result<bool> next(StoredReport& report) override {
      *most_read_ = std::max(*most_read_, ++read_);
      return all_->next(report);
    }

   private:
    std::unique_ptr<Reader<StoredReport>> all_;
    size_t* most_read_;
    size_t read_ = 0;
  };
  ListedReports all_;
  size_t* most_read_;
};

size_t reports_read_for_the_first_step(std::vector<StoredReport> reports) {
  size_t most_read = 0;
  auto listed = std::make_shared<CountingReports>(std::move(reports), &most_read);
  const auto training = read_training(listed, 1e6);
  CHECK(training);
  const auto steps = training->details->steps();
  most_read = 0;
  Step step;
  CHECK(steps->next(step));
  return most_read;
}

std::vector<StoredReport> steps_after_a_long_wait(const std::vector<std::string>& wait) {
  std::vector<StoredReport> reports;
  const auto add = [&](double time_s, const std::string& line) {
    reports.push_back({time_s, "pipe", *parse_report(line)});
  };
  if (wait.size() == 2) add(2, wait[0]);
  add(3602, wait.back());
  for (int i = 0; i < 300'000; ++i) add(3603 + i * 1e-3, "step");
  return reports;
}

TEST(StepReader, checkpoints_are_not_part_of_a_step) {
  const ListedTraining training = read_lines(
      {"1 pipe step 1", "1.5 pipe begin checkpoint", "2.5 pipe end checkpoint", "3 pipe step 2"});
  EXPECT_DOUBLE_EQ(*training.steps[1].duration_s, 1.0);
  ASSERT_EQ(training.phases.size(), 1U);
  EXPECT_DOUBLE_EQ(training.phases[0].to_s, 2.5);
}

TEST(StepReader, nested_pauses_are_subtracted_once) {
  const ListedTraining training =
      read_lines({"1 pipe step 1", "1.1 pipe begin evaluation", "1.2 pipe begin checkpoint",
                  "1.7 pipe end checkpoint", "1.9 pipe end evaluation", "2 pipe step 2"});
  EXPECT_NEAR(*training.steps[1].duration_s, 0.2, 1e-9);
}

TEST(StepReader, each_step_has_its_wait_for_data) {
  const ListedTraining training = read_lines(
      {"0.4 pipe phase input 0.4", "1 pipe step 1", "1.3 pipe phase input 0.3",
       "1.35 pipe phase input 0.2 who=worker", "2 pipe step 2", "2.1 pipe begin evaluation",
       "2.3 pipe phase input 0.2", "2.5 pipe end evaluation", "3.5 pipe step 3"});
  EXPECT_DOUBLE_EQ(*training.steps[0].duration_s, 1.0) << "it began with its first phase";
  EXPECT_NEAR(*training.steps[0].input_wait_s, 0.4, 1e-9);
  EXPECT_NEAR(*training.steps[1].input_wait_s, 0.3, 1e-9) << "a worker's waiting is its own";
  EXPECT_NEAR(*training.steps[2].input_wait_s, 0, 1e-9)
      << "that of an evaluation is not the step's";
}

// One phase around everything must not make each step look at all phases.
TEST(StepReader, many_steps_within_one_long_phase_take_linear_time) {
  std::vector<StoredReport> reports;
  const auto add = [&](double time_s, const char* line) {
    reports.push_back({time_s, "pipe", *parse_report(line)});
  };
  add(0, "begin everything");
  for (int i = 1; i <= 200'000; ++i) {
    add(i * 1e-3, "phase input 0.0001");
    add(i * 1e-3, "step");
  }
  const ListedTraining training = read_listed(std::move(reports), 300);
  EXPECT_EQ(training.count, 200'000);
  EXPECT_NEAR(*training.steps.back().input_wait_s, 1e-4, 1e-9);
}

TEST(StepReader, a_step_with_a_reported_duration_has_the_wait_of_its_phases) {
  const ListedTraining training = read_lines(
      {"1 pipe step 1 duration=1", "1.5 pipe phase input 0.5", "2 pipe step 2 duration=1"});
  EXPECT_DOUBLE_EQ(training.steps[1].duration_s.value(), 1);
  EXPECT_DOUBLE_EQ(training.steps[1].input_wait_s.value(), 0.5);
}

TEST(StepReader, each_line_that_counts_items_is_a_step_with_exact_throughput) {
  const ListedTraining training = read_lines({"1 output step loss=2 item=0 items=1280 epoch=1",
                                              "2 output step loss=1 item=640 items=1280 epoch=1",
                                              "3 output step loss=1 item=0 items=1280 epoch=2",
                                              "5 output step loss=1 item=640 items=1280 epoch=2"});
  EXPECT_EQ(training.count, 4);
  ASSERT_EQ(training.steps.size(), 4U);
  EXPECT_DOUBLE_EQ(training.steps[1].throughput.value(), 640);
  EXPECT_FALSE(training.steps[2].throughput);
  EXPECT_DOUBLE_EQ(training.steps[3].throughput.value(), 320);
  ASSERT_EQ(training.notes.size(), 1U);
  EXPECT_NE(training.notes[0].find("items, not steps"), std::string::npos);
  for (const TrainingNumber& number : training.numbers) EXPECT_EQ(number.name, "loss");
}

// So many steps at each of these times.
class StepsTogether : public Reports {
 public:
  StepsTogether(size_t count, std::vector<double> times)
      : count_(count), times_(std::move(times)) {}
  std::unique_ptr<Reader<StoredReport>> read(ReportsWanted /*wanted*/) const override {
    return std::make_unique<TogetherReader>(*this);
  }

 private:
  class TogetherReader : public Reader<StoredReport> {
   public:
    explicit TogetherReader(const StepsTogether& all) : all_(all) {}
    Result<bool> next(StoredReport& report) override {
      const size_t at = given_++ / all_.count_;
      if (at == all_.times_.size()) return false;
      report = {all_.times_[at], "output", Report()};
      return true;
    }

   private:
    const StepsTogether& all_;
    size_t given_ = 0;
  };
  size_t count_;
  std::vector<double> times_;
};

TEST(StepReader, steps_that_arrive_together_have_the_right_mean_however_many_they_are) {
  const auto training =
      read_training(std::make_shared<StepsTogether>(250'001, std::vector<double>{10, 25, 40}), 50);
  ASSERT_TRUE(training);
  EXPECT_EQ(training->count, 750'003);
  EXPECT_NEAR(*training->statistics.mean_s, 15 / 250'001.0, 1e-12);
}

TEST(StepReader, a_long_wait_that_ended_holds_back_no_steps) {
  EXPECT_LT(reports_read_for_the_first_step(steps_after_a_long_wait({"begin input", "end input"})),
            10U);
}

TEST(StepReader, steps_that_are_held_back_are_limited) {
  EXPECT_LT(reports_read_for_the_first_step(steps_after_a_long_wait({"phase input 3600"})),
            110'000U);
}

TEST(StepReader, the_numbers_of_steps_that_are_held_back_are_limited) {
  constexpr size_t kNumbers = 50, kSteps = 21'000;
  Report step;
  for (size_t i = 0; i < kNumbers; ++i) step.numbers.emplace_back("n" + std::to_string(i), 0);
  std::vector<StoredReport> reports = {{3602, "pipe", *parse_report("phase input 3600")}};
  for (size_t i = 0; i < kSteps; ++i) {
    reports.push_back({3603 + static_cast<double>(i) * 1e-3, "pipe", step});
  }
  EXPECT_LT(reports_read_for_the_first_step(std::move(reports)), 20'100U);
}

TEST(StepReader, a_step_that_is_reported_during_a_wait_has_its_part_of_it) {
  const ListedTraining training =
      read_lines({"1 pipe step 1", "2 pipe begin input", "3 pipe step 2", "4 pipe step 3",
                  "5 pipe end input", "6 pipe step 4"});
  EXPECT_EQ(training.steps[1].input_wait_s, 1);
  EXPECT_EQ(training.steps[1].longest_wait_to_s, 5);
  EXPECT_EQ(training.steps[2].input_wait_s, 1);
  EXPECT_EQ(training.steps[3].input_wait_s, 1);
}

// 1.1 - (1.1 - 0.04) is more than 0.04.
TEST(StepReader, the_wait_that_begins_the_first_step_belongs_to_it) {
  const ListedTraining training = read_lines(
      {"0.04 pipe begin input", "1.05 pipe end input", "1.1 pipe step 1", "1.2 pipe step 2"});
  EXPECT_EQ(training.steps[0].longest_wait_from_s, 0.04);
  EXPECT_EQ(training.steps[0].longest_wait_to_s, 1.05);
}

}  // namespace step_reader_test
}  // namespace trainscope
