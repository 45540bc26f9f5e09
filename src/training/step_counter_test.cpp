#include "training/step_counter.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "testing/listed_reports.h"

namespace trainscope {
namespace step_counter_test {

// The contract's own examples.
TEST(StepCounter, counts_as_the_contract_states) {
  EXPECT_EQ(read_numbered({0, 1, 2, 3}).count, 4);
  EXPECT_EQ(read_numbered({1, 2, 3}).count, 3);
  EXPECT_EQ(read_numbered({10, 20, 30}).count, 30);
  EXPECT_EQ(read_numbered({9, 19, 29, 39}).count, 40);
  EXPECT_EQ(read_numbered({500, 501, 502}).count, 3);
  EXPECT_EQ(read_numbered({0, 100, 200}).count, 201);
  EXPECT_EQ(read_numbered({1, 2, 3, 1, 2, 3}).count, 6);
  EXPECT_EQ(read_numbered({0, 1, 2, 0, 1, 2}).count, 6);
  EXPECT_EQ(read_numbered({7}).count, 1);
  EXPECT_EQ(read_numbered({1, 2, 2, 3}).count, 3) << "the same step reported twice is one";
  EXPECT_EQ(read_numbered({10, 20, 30}).steps.size(), 3U);
}

TEST(StepCounter, uses_the_reported_length_of_an_epoch) {
  const ListedTraining training =
      read_lines({"1 output step 5 epoch=1 of=32", "2 output step 31 epoch=1 of=32",
                  "3 output step 9 epoch=2 of=32", "4 output step 32 epoch=2 of=32"});
  EXPECT_EQ(training.count, 64);
  EXPECT_EQ(training.steps[2].step, 41);
  EXPECT_EQ(training.steps[2].covers, 10);
  EXPECT_DOUBLE_EQ(*training.steps[2].duration_s, 0.1);
  // One line per epoch: the same number, another epoch.
  EXPECT_EQ(read_lines({"1 output step 32 epoch=1 of=32", "2 output step 32 epoch=2 of=32"}).count,
            64);
}

TEST(StepCounter, a_resumed_job_may_name_the_total) {
  const auto numbered = [](const std::vector<int>& numbers) {
    std::vector<std::string> lines;
    for (const int number : numbers) {
      lines.push_back(fmt::format("{} output step {} of=1000", lines.size() + 1, number));
    }
    return read_lines(lines);
  };
  EXPECT_EQ(numbered({501, 502, 503, 504}).count, 4);
  EXPECT_EQ(numbered({501, 502, 503, 504}).steps[0].covers, 1);
  EXPECT_EQ(numbered({510, 520, 530}).count, 21);
  EXPECT_EQ(numbered({10, 20, 30}).count, 30);
  EXPECT_EQ(numbered({120, 170, 230}).count, 230) << "a bar is drawn now and then";
  EXPECT_EQ(numbered({500, 1000}).count, 1000);
}

TEST(StepCounter, a_report_of_every_tenth_step_gives_the_duration_of_one) {
  const ListedTraining training = read_numbered({10, 20, 30});
  EXPECT_FALSE(training.steps[0].duration_s);
  EXPECT_DOUBLE_EQ(*training.steps[1].duration_s, 0.1);
  EXPECT_EQ(training.steps[0].covers, 10);
}

TEST(StepCounter, a_job_that_returned_to_its_checkpoint_did_those_steps_twice) {
  std::vector<int> numbers;
  for (int i = 1; i <= 57; ++i) numbers.push_back(i);
  for (int i = 50; i <= 60; ++i) numbers.push_back(i);
  EXPECT_EQ(read_numbered(numbers).count, 68);
}

// Of two epochs of 100 steps; rank 1 is up to three steps behind.
TEST(StepCounter, ranks_that_print_the_same_steps_a_little_later_do_not_count) {
  std::vector<std::string> lines;
  const auto print = [&](int step, double time_s) {
    lines.push_back(fmt::format("{} output step {} of=100", time_s, (step - 1) % 100 + 1));
  };
  for (int step = 1, behind = 1; step <= 200; ++step) {
    print(step, step);
    const int until = step == 200 ? 200 : step - step % 4;
    for (; behind <= until; ++behind) print(behind, step + 0.5);
  }
  EXPECT_EQ(lines.size(), 400U);
  const ListedTraining training = read_lines(lines, 201);
  EXPECT_EQ(training.count, 200);
  EXPECT_EQ(training.observed, 200);
  EXPECT_DOUBLE_EQ(*training.statistics.p50_s, 1);
  EXPECT_DOUBLE_EQ(*training.statistics.p99_s, 1);
}

TEST(StepCounter, ranks_that_print_the_same_steps_without_a_length_are_not_counted) {
  std::vector<int> numbers;
  for (int i = 1; i <= 20; ++i) numbers.push_back(i);
  for (int i = 21; i <= 100; ++i) numbers.insert(numbers.end(), {i, i - 2});
  const ListedTraining mixed = read_numbered(numbers);
  EXPECT_FALSE(mixed.count);
  EXPECT_EQ(mixed.observed, 0);
  EXPECT_NE(mixed.reason.find("several processes report the same steps"), std::string::npos)
      << mixed.reason;
  EXPECT_FALSE(mixed.statistics.p50_s);
  // One that crashed and went back four times, and one with short epochs.
  std::vector<int> resumed, epochs;
  for (int from = 1; from <= 120; from += 24) {
    for (int i = from; i < from + 30; ++i) resumed.push_back(i);
  }
  EXPECT_EQ(read_numbered(resumed).count, 150);
  for (int i = 0; i < 60; ++i) epochs.push_back(i % 3 + 1);
  EXPECT_EQ(read_numbered(epochs).count, 60);
}

TEST(StepCounter, epochs_of_which_little_is_printed_are_counted) {
  const auto count = [](const std::vector<int>& numbers, int of) {
    std::vector<std::string> lines;
    for (const int number : numbers) {
      lines.push_back(fmt::format("{} output step {} of={}", lines.size() + 1, number, of));
    }
    return read_lines(lines, 100).count;
  };
  EXPECT_EQ(count({50, 100, 50, 100, 50, 100}, 120), 340);
  EXPECT_EQ(count({1, 100, 1, 100, 1, 100}, 100), 300);
  EXPECT_EQ(count({45, 90, 47, 92, 44, 89}, 100), 289);
  EXPECT_EQ(count({80, 75, 70}, 100), 270);
  EXPECT_EQ(count({90, 100, 91, 100, 92, 100}, 100), 300);
  EXPECT_EQ(count({1, 2, 3, 1, 2, 3, 1, 3}, 3), 9);
  EXPECT_EQ(count({76, 100, 78, 100, 77, 100, 75, 100}, 100), 400);
}

// A single process never goes back a little, so nothing that it prints is of another one.
TEST(StepCounter, a_single_process_that_prints_less_of_later_epochs_loses_none) {
  const auto count = [](int first_every, int later_every) {
    std::vector<std::string> lines;
    for (int i = 0; i < 4 * 20; ++i) {
      const int step = i % 20 + 1, every = i < 20 ? first_every : later_every;
      if (step != 1 && step != 20 && step % every != 0) continue;
      lines.push_back(fmt::format("{} output step {} of=20", i + 1, step));
    }
    return read_lines(lines, 100).count;
  };
  for (int first = 1; first <= 20; ++first) {
    for (int later = 1; later <= 20; ++later) {
      EXPECT_EQ(count(first, later), 80) << first << " then " << later;
    }
  }
  EXPECT_EQ(
      read_lines({"1 output step 10 of=100", "2 output step 95 of=100", "3 output step 90 of=100"})
          .count,
      190)
      << "back by less than a gap between two lines";
}

// One that lags behind does go back, and before its epoch ends.
TEST(StepCounter, the_last_steps_of_a_rank_that_lags_are_not_those_of_the_next_epoch) {
  for (const int every : {1, 5, 10}) {
    for (int lag = 1; lag * every < 25; ++lag) {
      std::vector<std::string> lines;
      const auto print = [&](int number) {
        lines.push_back(fmt::format("{} output step {} of=100", lines.size() + 1,
                                    (number * every - 1) % 100 + 1));
      };
      const int all = 300 / every;
      for (int i = 1; i <= all + lag; ++i) {
        if (i <= all) print(i);
        if (i > lag) print(i - lag);
      }
      EXPECT_EQ(read_lines(lines, 1000).count, 300) << every << ", " << lag << " behind";
    }
  }
}

TEST(StepCounter, numbers_out_of_range_are_ignored) {
  const ListedTraining training =
      read_lines({"1 pipe step 5 of=1e300", "2 pipe step 1", "3 pipe step 2",
                  "3 pipe scalar x 1 step=nan", "4 pipe phase input 1e300"});
  EXPECT_EQ(training.count, 3) << "an epoch that began at its fifth step, and two of the next";
  ASSERT_EQ(training.numbers.size(), 1U);
  EXPECT_FALSE(training.numbers[0].step);
  ASSERT_EQ(training.all_phases.size(), 1U);
  EXPECT_EQ(training.all_phases[0].from_s, 0);
  EXPECT_EQ(training.all_phases[0].to_s, 4);
}

TEST(StepCounter, huge_numbers_do_not_overflow) {
  std::vector<std::string> lines;
  for (int i = 0; i < 3000; ++i) {
    lines.push_back(fmt::format("{} pipe step {}", i + 1, i % 2 == 0 ? int64_t{1} << 53 : 0));
    lines.push_back(fmt::format("{} pipe dropped {}", i + 1, int64_t{1} << 53));
  }
  const ListedTraining training = read_lines(lines, 4000);
  EXPECT_GT(*training.count, int64_t{1} << 61);
  EXPECT_LE(*training.count, INT64_MAX);
  for (const Step& step : training.steps) EXPECT_GE(step.step, 0);
  EXPECT_EQ(training.dropped, int64_t{1} << 62);
}

}  // namespace step_counter_test
}  // namespace trainscope
