#include "training/training.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "testing/listed_reports.h"

namespace trainscope {
namespace {

// "TIME_S SOURCE LINE" each.
ListedTraining told(const std::vector<std::string>& lines, double duration_s = 100,
                    const std::vector<Event>& events = {}) {
  std::vector<StoredReport> reports;
  for (const std::string& line : lines) {
    const size_t space = line.find(' ');
    const auto time_ns = std::llround(std::stod(line.substr(0, space)) * 1e9);
    const auto report = parse_stored_report(std::to_string(time_ns) + line.substr(space));
    EXPECT_TRUE(report) << line;
    if (report) reports.push_back(*report);
  }
  return read_listed(std::move(reports), duration_s, events);
}

ListedTraining numbered(const std::vector<int>& numbers) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < numbers.size(); ++i) {
    lines.push_back(fmt::format("{} output step {}", i + 1, numbers[i]));
  }
  return told(lines);
}

TEST(Training, StoredLinesComeBackTheSame) {
  const auto report = parse_report("step 5 loss=0.5");
  EXPECT_EQ(format_stored_report(1500, "pipe", *report), "1500 pipe step 5 loss=0.5\n");
  const auto back = parse_stored_report("1500 pipe step 5 loss=0.5");
  ASSERT_TRUE(back);
  EXPECT_DOUBLE_EQ(back->time_s, 1.5e-6);
  EXPECT_EQ(back->source, "pipe");
  EXPECT_FALSE(parse_stored_report("1500 pipe"));
  EXPECT_FALSE(parse_stored_report("soon pipe step 1"));
}

// The contract's own examples.
TEST(Training, CountsStepsAsTheContractSays) {
  EXPECT_EQ(numbered({0, 1, 2, 3}).count, 4);
  EXPECT_EQ(numbered({1, 2, 3}).count, 3);
  EXPECT_EQ(numbered({10, 20, 30}).count, 30);
  EXPECT_EQ(numbered({9, 19, 29, 39}).count, 40);
  EXPECT_EQ(numbered({500, 501, 502}).count, 3);
  EXPECT_EQ(numbered({0, 100, 200}).count, 201);
  EXPECT_EQ(numbered({1, 2, 3, 1, 2, 3}).count, 6);
  EXPECT_EQ(numbered({0, 1, 2, 0, 1, 2}).count, 6);
  EXPECT_EQ(numbered({7}).count, 1);
  EXPECT_EQ(numbered({1, 2, 2, 3}).count, 3) << "the same step told twice is one";
  EXPECT_EQ(numbered({10, 20, 30}).steps.size(), 3U);
}

TEST(Training, KnowsTheLengthOfAnEpochWhereItIsTold) {
  const ListedTraining training =
      told({"1 output step 5 epoch=1 of=32", "2 output step 31 epoch=1 of=32",
            "3 output step 9 epoch=2 of=32", "4 output step 32 epoch=2 of=32"});
  EXPECT_EQ(training.count, 64);
  EXPECT_EQ(training.steps[2].step, 41);
  EXPECT_EQ(training.steps[2].covers, 10);
  EXPECT_DOUBLE_EQ(*training.steps[2].duration_s, 0.1);
  // One line an epoch: the same number, another epoch.
  EXPECT_EQ(told({"1 output step 32 epoch=1 of=32", "2 output step 32 epoch=2 of=32"}).count, 64);
}

TEST(Training, ASourceThatTellsEveryTenthStepGivesTheDurationOfOne) {
  const ListedTraining training = numbered({10, 20, 30});
  EXPECT_FALSE(training.steps[0].duration_s);
  EXPECT_DOUBLE_EQ(*training.steps[1].duration_s, 0.1);
  EXPECT_EQ(training.steps[0].covers, 10);
}

TEST(Training, EpochsAloneGiveNoCount) {
  const ListedTraining training =
      told({"1 tensorboard epoch 0 loss=2", "2 tensorboard epoch 1 loss=1"});
  EXPECT_FALSE(training.count);
  EXPECT_EQ(training.reason, "2 epochs were reported, but no steps");
  EXPECT_EQ(training.epochs.size(), 2U);
  EXPECT_EQ(training.epochs[1].values.at("loss"), 1);
}

TEST(Training, ThePipeIsTakenBeforeTheOthers) {
  const ListedTraining training =
      told({"1 output step 1", "1.1 pipe step 1", "2 output step 2", "3 output step 3"});
  EXPECT_EQ(training.source, "pipe");
  EXPECT_EQ(training.count, 1);
  EXPECT_EQ(training.unused_sources, std::vector<std::string>{"output"});
}

TEST(Training, OfTwoOthersTheOneThatTellsMore) {
  EXPECT_EQ(told({"1 output step 1", "2 output step 2", "2 tensorboard step 2"}).source, "output");
  EXPECT_EQ(told({"1 output step 1", "2 tensorboard step 2"}).source, "tensorboard");
}

TEST(Training, TimeWithoutCheckpointsIsTheSteps) {
  const ListedTraining training = told(
      {"1 pipe step 1", "1.5 pipe begin checkpoint", "2.5 pipe end checkpoint", "3 pipe step 2"});
  EXPECT_DOUBLE_EQ(*training.steps[1].duration_s, 1.0);
  ASSERT_EQ(training.phases.size(), 1U);
  EXPECT_DOUBLE_EQ(training.phases[0].to_s, 2.5);
}

TEST(Training, WaitingForDataIsKnownOfEachStep) {
  const ListedTraining training =
      told({"0.4 pipe phase input 0.4", "1 pipe step 1", "1.3 pipe phase input 0.3",
            "1.35 pipe phase input 0.2 who=worker", "2 pipe step 2", "2.1 pipe begin evaluation",
            "2.3 pipe phase input 0.2", "2.5 pipe end evaluation", "3.5 pipe step 3"});
  EXPECT_DOUBLE_EQ(*training.steps[0].duration_s, 1.0) << "it began with its first phase";
  EXPECT_NEAR(*training.steps[0].input_wait_s, 0.4, 1e-9);
  EXPECT_NEAR(*training.steps[1].input_wait_s, 0.3, 1e-9) << "a worker's waiting is its own";
  EXPECT_NEAR(*training.steps[2].input_wait_s, 0, 1e-9)
      << "that of an evaluation is not the step's";
}

TEST(Training, WhereAllHaveANameTheOneWhoTellsMostIsTheTraining) {
  const ListedTraining training = told(
      {"0.5 pipe phase input 0.4 who=rank1", "1 pipe step 1 who=rank1", "1.5 pipe step 1 who=77",
       "2 pipe step 2 who=rank1", "2.1 pipe phase input 0.1 who=77"});
  EXPECT_EQ(training.count, 2);
  EXPECT_NEAR(*training.steps[0].input_wait_s, 0.4, 1e-9);
  EXPECT_EQ(training.all_phases[1].who, "77");
}

TEST(Training, WhatIsNoNumberIsAbsentAndSaid) {
  const ListedTraining training = told({"1 pipe step 1 loss=0.5", "2 pipe step 2 loss=nan"});
  EXPECT_EQ(training.steps[0].loss, 0.5);
  EXPECT_FALSE(training.steps[1].loss);
  ASSERT_EQ(training.notes.size(), 1U);
  EXPECT_NE(training.notes[0].find("loss is not a number"), std::string::npos);
}

TEST(Training, SlowFirstStepsAreWarmUp) {
  const ListedTraining training =
      told({"0.1 pipe phase input 0.1", "5 pipe step 1", "6 pipe step 2", "6.1 pipe step 3",
            "6.2 pipe step 4", "6.3 pipe step 5", "6.4 pipe step 6", "6.5 pipe step 7"});
  EXPECT_EQ(training.warmup_steps, 2);
  EXPECT_EQ(training.steps[2].kind, "step");
  const StepStatistics statistics = training.statistics;
  EXPECT_NEAR(*statistics.mean_s, 0.1, 1e-9);
}

TEST(Training, PhasesInEachOtherCountOnce) {
  const ListedTraining training =
      told({"1 pipe step 1", "1.1 pipe begin evaluation", "1.2 pipe begin checkpoint",
            "1.7 pipe end checkpoint", "1.9 pipe end evaluation", "2 pipe step 2"});
  EXPECT_NEAR(*training.steps[1].duration_s, 0.2, 1e-9);
}

// One phase around everything must not make each step look at all phases.
TEST(Training, ManyStepsWithinOneLongPhaseAreReadAtOnce) {
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

TEST(Training, AJobThatWentBackToItsCheckpointDidThoseStepsTwice) {
  std::vector<int> numbers;
  for (int i = 1; i <= 57; ++i) numbers.push_back(i);
  for (int i = 50; i <= 60; ++i) numbers.push_back(i);
  EXPECT_EQ(numbered(numbers).count, 68);
}

TEST(Training, InEventFilesEveryNumberHasItsOwnAxis) {
  std::vector<std::string> lines;
  for (int i = 1; i <= 40; ++i) {
    lines.push_back(fmt::format("{} tensorboard step {} loss={}", i, i, 1.0 / i));
    lines.push_back(fmt::format("{} tensorboard step {} accuracy=0.5", i, i));
    if (i % 10 == 0) lines.push_back(fmt::format("{} tensorboard step {} lr=0.1", i, i / 10));
  }
  const ListedTraining training = told(lines);
  EXPECT_EQ(training.count, 40);
  EXPECT_EQ(training.steps[3].loss, 0.25);
  EXPECT_EQ(training.steps[3].accuracy, 0.5);
}

TEST(Training, EventsThatAreReadTwiceCountOnce) {
  const ListedTraining training =
      told({"1 tensorboard step 1 loss=2", "2 tensorboard step 2 loss=1",
            "1 tensorboard step 1 loss=2", "2 tensorboard step 2 loss=1"});
  EXPECT_EQ(training.count, 2);
  EXPECT_EQ(training.numbers.size(), 2U);
}

TEST(Training, TheValidationsLossIsNotTheTrainings) {
  const ListedTraining training =
      told({"1 tensorboard epoch 0 loss=0.25", "1 tensorboard epoch 0 loss=0.75 set=validation"});
  ASSERT_EQ(training.epochs.size(), 1U);
  EXPECT_EQ(training.epochs[0].values.at("loss"), 0.25);
  EXPECT_EQ(training.epochs[0].values.at("val_loss"), 0.75);
}

TEST(Training, NumbersOutOfRangeAreLeftOut) {
  const ListedTraining training = told({"1 pipe step 5 of=1e300", "2 pipe step 1", "3 pipe step 2",
                                        "3 pipe scalar x 1 step=nan", "4 pipe phase input 1e300"});
  EXPECT_GE(*training.count, 2);
  EXPECT_LT(*training.count, 10);
  EXPECT_GE(training.all_phases[0].from_s, 0);
}

TEST(Training, ASmallerLastBatchIsNotThatOfAll) {
  std::vector<std::string> lines = {"0 pipe batch 32"};
  for (int i = 1; i <= 10; ++i) lines.push_back(fmt::format("{} pipe step {}", i, i));
  lines.emplace_back("10.5 pipe batch 1");
  lines.emplace_back("11 pipe step 11");
  const ListedTraining training = told(lines);
  EXPECT_NEAR(*training.statistics.throughput, (9 * 32 + 1) / 10.0, 1e-9);
  EXPECT_EQ(training.batch, 32);
}

TEST(Training, APrintedBarDoesNotTakeThePlaceOfARank) {
  const ListedTraining training =
      told({"1 pipe step 1 who=rank1", "2 pipe step 2 who=rank1", "2 output step 1"});
  EXPECT_EQ(training.source, "pipe");
  EXPECT_EQ(training.count, 2);
}

TEST(Training, BatchesGiveThroughput) {
  const ListedTraining training =
      told({"0 pipe batch 64", "1 pipe step 1", "1.5 pipe step 2", "2 pipe step 3"});
  EXPECT_NEAR(*training.statistics.throughput, 128, 1e-9);
}

TEST(Training, TellsWhenItWasHowGood) {
  const ListedTraining training =
      told({"1 pipe step 1 loss=2", "1.5 pipe scalar accuracy 0.62 set=test",
            "2 pipe step 2 loss=1", "2.5 pipe scalar accuracy 0.91 set=test",
            "3 pipe epoch 1 val_accuracy=0.4", "4 pipe scalar accuracy 0.9 set=test"});
  const std::vector<SetResults> all = training.results;
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].set, "train");
  EXPECT_EQ(all[0].loss, 1);
  EXPECT_EQ(all[1].accuracy, 0.4);
  const SetResults& test = all[2];
  EXPECT_EQ(test.accuracy, 0.9);
  EXPECT_EQ(test.best_accuracy, 0.91);
  EXPECT_DOUBLE_EQ(test.best_time_s, 2.5);
  ASSERT_EQ(test.milestones.size(), 7U);  // 50, 60, then 70, 80, 85, 90, 91 %
  EXPECT_DOUBLE_EQ(test.milestones[1].time_s, 1.5);
  EXPECT_EQ(test.milestones[1].step, 1);
  EXPECT_DOUBLE_EQ(test.milestones[6].time_s, 2.5);
  EXPECT_EQ(test.milestones[6].step, 2);
}

TEST(Training, SeriesHaveNamesOfTheContract) {
  const ListedTraining training = told({"1 pipe step 1 loss=0.5 accuracy=0.8",
                                        "2 pipe step 2 loss=0.4", "2 pipe epoch 1 val_loss=1"});
  std::vector<std::string> names;
  for (const TrainingSeries& each : training.series) {
    names.push_back(series_text(each.series));
  }
  const std::vector<std::string> expected = {
      "train.step{source=pipe}", "train.step.duration{source=pipe}",
      "train.loss{set=train;source=pipe}", "train.loss{set=validation;source=pipe}",
      "train.accuracy{set=train;source=pipe}"};
  EXPECT_EQ(names, expected);
}

TEST(Training, PrintedStepsThatCameTogetherHaveNoTimesOfTheirOwn) {
  std::vector<std::string> lines;
  for (int i = 1; i <= 150; ++i) lines.push_back(fmt::format("3 output step {} loss=1", i));
  const ListedTraining once = told(lines);
  EXPECT_EQ(once.count, 150);
  EXPECT_NE(once.times_reason.find("150 of 150"), std::string::npos) << once.times_reason;
  EXPECT_FALSE(once.statistics.mean_s);
  EXPECT_FALSE(once.statistics.p50_s);
  EXPECT_EQ(once.warmup_steps, 0);
  for (int i = 151; i <= 190; ++i) lines.push_back(fmt::format("7 output step {} loss=1", i));
  const ListedTraining blocks = told(lines);
  EXPECT_DOUBLE_EQ(*blocks.statistics.mean_s, 0.1);
  EXPECT_FALSE(blocks.statistics.p50_s);
  EXPECT_FALSE(blocks.steps.back().duration_s);
  // Printed at the end, whatever it was that took the time before.
  for (std::string& line : lines) line.replace(0, 1, line[0] == '3' ? "6.9" : "7");
  EXPECT_FALSE(told(lines).statistics.mean_s);
}

TEST(Training, AFewThatCameTogetherSpoilNothing) {
  std::vector<std::string> lines;
  for (int i = 1; i <= 100; ++i) {
    lines.push_back(fmt::format("{} output step {}", i == 50 ? 51 : i, i));
  }
  const ListedTraining training = told(lines);
  EXPECT_EQ(training.times_reason, "");
  EXPECT_DOUBLE_EQ(*training.statistics.p50_s, 1);
  EXPECT_DOUBLE_EQ(*training.statistics.p99_s, 1);
  EXPECT_FALSE(training.steps[49].duration_s);
  EXPECT_DOUBLE_EQ(*training.steps[50].average_s, 1);
}

TEST(Training, TimesThatTheJobTellsAreKnownHoweverItsLinesCome) {
  const ListedTraining training =
      told({"1 output step 1 duration=0.5", "1 output step 2 duration=0.7"});
  EXPECT_EQ(training.times_reason, "");
  EXPECT_DOUBLE_EQ(*training.statistics.mean_s, 0.6);
  EXPECT_EQ(told({"1 tensorboard step 1", "1 tensorboard step 2"}).times_reason, "")
      << "event files have dates of their own";
}

TEST(Training, LinesOfThePipeThatCameTogetherHaveNoTimes) {
  const ListedTraining training = told({"1 pipe step 1", "1 pipe step 2"});
  EXPECT_NE(training.times_reason.find("through the pipe together"), std::string::npos);
  EXPECT_FALSE(training.statistics.p50_s);
}

TEST(Training, CoarseTimesAreNoTimes) {
  const ListedTraining training = told({"1 output step 1", "2 output step 2", "3 output step 3"},
                                       100, {{0, std::string(kOutputIsPolled), "no inotify"}});
  EXPECT_NE(training.times_reason.find("no inotify"), std::string::npos);
  EXPECT_DOUBLE_EQ(*training.statistics.mean_s, 1);
  EXPECT_FALSE(training.statistics.p50_s);
}

TEST(Training, PrintedStepsThatMayBeAStrangersAreNotCounted) {
  const std::vector<Event> events = {{1.5, std::string(kOutputIsShared), "process 7 writes too"}};
  const ListedTraining refused = told({"1 output step 1 loss=1", "2 output step 2"}, 100, events);
  EXPECT_FALSE(refused.count);
  EXPECT_NE(refused.reason.find("process 7 writes too"), std::string::npos);
  EXPECT_TRUE(refused.numbers.empty());
  EXPECT_EQ(told({"1 output step 1", "2 pipe step 2"}, 100, events).count, 1);
}

TEST(Training, an_accuracy_of_another_set_is_not_the_steps_own) {
  const ListedTraining training =
      told({"1 pipe step 1 accuracy=0.5 test_accuracy=0.9", "2 pipe step 2 test_accuracy=0.8"});
  EXPECT_EQ(training.steps[0].accuracy, 0.5);
  EXPECT_FALSE(training.steps[1].accuracy);
}

TEST(Training, a_step_that_reports_its_duration_waited_as_its_phases_say) {
  const ListedTraining training =
      told({"1 pipe step 1 duration=1", "1.5 pipe phase input 0.5", "2 pipe step 2 duration=1"});
  EXPECT_DOUBLE_EQ(training.steps[1].duration_s.value(), 1);
  EXPECT_DOUBLE_EQ(training.steps[1].input_wait_s.value(), 0.5);
}

TEST(Training, lines_that_count_items_are_a_step_each_with_exact_items_per_second) {
  const ListedTraining training = told({"1 output step loss=2 item=0 items=1280 epoch=1",
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

TEST(Training, a_step_has_all_numbers_that_were_reported_with_it) {
  const ListedTraining training =
      told({"1 pipe step 5 epoch=2 loss=0.5 acc=0.9 accuracy=0.8 lr=0.1 val_loss=3 of=10",
            "1.5 pipe step 5 lr=0.2 bad=nan", "1.6 pipe step 5 set=test loss=7", "2 pipe step"});
  ASSERT_EQ(training.steps.size(), 2U);
  const Step& step = training.steps[0];
  EXPECT_EQ(step.step, 5);
  EXPECT_EQ(step.reported_number, 5);
  EXPECT_EQ(step.epoch, 2);
  EXPECT_EQ(step.loss, 0.5);
  EXPECT_EQ(step.accuracy, 0.9);
  const std::vector<std::pair<std::string, double>> others = {
      {"accuracy", 0.8}, {"lr", 0.2}, {"val_loss", 3}, {"test_loss", 7}};
  EXPECT_EQ(step.numbers, others);
  EXPECT_FALSE(training.steps[1].reported_number);
  EXPECT_TRUE(training.steps[1].numbers.empty());
}

TEST(Training, a_run_without_steps_says_what_to_do) {
  const std::string ways = told({}).reason;
  for (const char* way : {"trainscope send", "--tensorboard", "--steps-from"}) {
    EXPECT_NE(ways.find(way), std::string::npos) << ways;
  }
  EXPECT_LE(ways.size(), 67U) << "with its label it fits 80 columns";
  const Event unseen{1, std::string(kOutputIsUnseen), "stdout is /dev/null"};
  EXPECT_EQ(told({}, 100, {unseen}).reason, "no steps: stdout is /dev/null");
  const Event pattern{1, std::string(kStepsPattern), R"(it (?<step>\d+))"};
  EXPECT_NE(told({}, 100, {unseen, pattern}).reason.find(R"(--steps-from 'it (?<step>\d+)')"),
            std::string::npos);
  EXPECT_EQ(told({"1 pipe step 1"}, 100, {unseen, pattern}).reason, "");
}

}  // namespace
}  // namespace trainscope
