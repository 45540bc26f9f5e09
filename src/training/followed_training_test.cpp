#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "testing/listed_reports.h"
#include "training/training.h"

namespace trainscope {
namespace followed_training_test {

std::vector<StoredReport> parse_all(const std::vector<std::string>& lines) {
  std::vector<StoredReport> all;
  for (const std::string& line : lines) {
    const size_t space = line.find(' ');
    const auto time_ns = std::llround(std::stod(line.substr(0, space)) * 1e9);
    all.push_back(*parse_stored_report(std::to_string(time_ns) + line.substr(space)));
  }
  return all;
}

std::shared_ptr<ListedReports> part_of(const std::vector<StoredReport>& all, size_t from,
                                       size_t to) {
  const auto begin = all.begin();
  return std::make_shared<ListedReports>(std::vector<StoredReport>(
      begin + static_cast<std::ptrdiff_t>(from), begin + static_cast<std::ptrdiff_t>(to)));
}

std::string optional_text(const std::optional<double>& value) {
  return value ? fmt::format("{:.17g}", *value) : "-";
}

// What an export writes of a step; without the numbers, which held steps lack.
std::string text_of(const Step& step) {
  return fmt::format("{} {} {} {} {} {} {:.17g}..{:.17g}", step.step, step.time_s, step.covers,
                     optional_text(step.duration_s), optional_text(step.average_s),
                     optional_text(step.input_wait_s), step.longest_wait_from_s,
                     step.longest_wait_to_s) +
         std::string(step.kind);
}

std::string steps_text(const Training& training) {
  std::string text;
  for (const Step& step : read_all(training.details->steps())) text += text_of(step) + "\n";
  return text;
}

std::string statistics_text(const Training& training) {
  const StepStatistics& s = training.statistics;
  std::string text = fmt::format(
      "{} {} {} {} {} {} {} {} {} {} {} {} {}", training.source, training.reports,
      training.observed, training.count.value_or(-1), training.times_reason, training.warmup_steps,
      optional_text(s.mean_s), optional_text(s.p50_s), optional_text(s.p99_s),
      optional_text(s.throughput), s.typical_s, s.typical_rest_s, s.deviation_s);
  for (const Epoch& epoch : training.epochs) text += fmt::format(" epoch {}", epoch.epoch);
  for (const TrainingPhase& phase : training.phases) {
    text += fmt::format(" {} {}-{} {}", phase.name, phase.from_s, phase.to_s, phase.is_open);
  }
  for (const SetResults& results : training.results) {
    text += fmt::format(" {} {} {}", results.set, optional_text(results.loss),
                        optional_text(results.best_accuracy));
    for (const auto& milestone : results.milestones) {
      text += fmt::format(" {}%@{}", 100 * milestone.accuracy, milestone.step.value_or(-1));
    }
  }
  for (const TrainingSeries& each : training.series) {
    text += fmt::format(" {}:{} {}", each.series.metric, each.summary.samples,
                        optional_text(each.summary.mean));
  }
  return text;
}

// Slow first steps, waits for data that are reported before and after, checkpoints, an evaluation,
// epochs that begin anew, and steps that arrive together.
std::vector<StoredReport> ordinary_job() {
  std::vector<std::string> lines = {"0.5 pipe batch 32"};
  double time_s = 1;
  for (int step = 1; step <= 60; ++step) {
    lines.push_back(fmt::format("{:.3f} pipe begin input", time_s));
    time_s += step % 7 == 0 ? 0.03 : 0.005;
    lines.push_back(fmt::format("{:.3f} pipe end input", time_s));
    time_s += step == 1 ? 1.5 : 0.05;
    if (step % 9 == 0) lines.push_back(fmt::format("{:.3f} pipe phase input 0.02", time_s));
    lines.push_back(fmt::format("{:.3f} pipe step {} epoch={} of=30 loss={} lr=0.1", time_s,
                                (step - 1) % 30 + 1, 1 + step / 31, 1.0 / step));
    if (step % 20 == 0) {
      lines.push_back(fmt::format("{:.3f} pipe begin checkpoint", time_s + 0.01));
      time_s += 0.4;
      lines.push_back(fmt::format("{:.3f} pipe end checkpoint", time_s));
    }
    if (step == 30) {
      time_s += 0.2;
      lines.push_back(fmt::format("{:.3f} pipe phase evaluation 0.2", time_s));
      lines.push_back(fmt::format("{:.3f} pipe epoch 1 accuracy=0.75 set=validation", time_s));
    }
  }
  return parse_all(lines);
}

class FollowedTraining : public testing::TestWithParam<size_t> {};

// With every number of reports between two calls: what is shown is what a reading from the
// beginning shows, at each call.
TEST_P(FollowedTraining, is_the_training_that_is_read_from_the_beginning) {
  const std::vector<StoredReport> all = ordinary_job();
  const auto follower = follow_training(StepsToFollow::all);
  ASSERT_TRUE(follower->begin(part_of(all, 0, 40), all[39].time_s, {}));
  size_t followed = 0, begun = 0;
  for (size_t at = 40; at < all.size(); at += GetParam()) {
    const size_t end = std::min(all.size(), at + GetParam());
    const double duration_s = all[end - 1].time_s;
    auto now = follower->add(*part_of(all, at, end), duration_s, {});
    ASSERT_TRUE(now) << now.error().message();
    const ListedTraining expected =
        read_listed({all.begin(), all.begin() + static_cast<std::ptrdiff_t>(end)}, duration_s);
    if (!*now) {
      ++begun;
      auto again = follower->begin(part_of(all, 0, end), duration_s, {});
      ASSERT_TRUE(again);
      *now = std::move(*again);
    } else {
      ++followed;
    }
    EXPECT_EQ(statistics_text(**now), statistics_text(expected)) << end;
    EXPECT_EQ(steps_text(**now), steps_text(expected)) << end;
  }
  EXPECT_LE(begun, followed / 4) << "it is read again only now and then";
}

// Together they are the steps of the whole, each once and with its numbers.
TEST_P(FollowedTraining, fresh_steps_are_given_once) {
  const std::vector<StoredReport> all = ordinary_job();
  const ListedTraining expected = read_listed(all, all.back().time_s);
  const auto follower = follow_training(StepsToFollow::fresh);
  const auto whole = follower->begin(part_of(all, 0, 90), all[89].time_s, {});
  ASSERT_TRUE(whole);
  std::vector<Step> given;
  for (size_t at = 90; at < all.size(); at += GetParam()) {
    const size_t end = std::min(all.size(), at + GetParam());
    const auto part = follower->add(*part_of(all, at, end), all[end - 1].time_s, {});
    ASSERT_TRUE(part);
    ASSERT_TRUE(*part) << end;
    for (const Step& step : read_all((*part)->details->steps())) given.push_back(step);
  }
  ASSERT_GT(given.size(), 20U);
  const auto first = static_cast<size_t>(given.front().step - 1);
  for (size_t i = 0; i < given.size(); ++i) {
    EXPECT_EQ(text_of(given[i]), text_of(expected.steps[first + i]));
    EXPECT_EQ(given[i].numbers, expected.steps[first + i].numbers);
    EXPECT_EQ(given[i].loss, expected.steps[first + i].loss);
  }
  EXPECT_GE(first + given.size() + 5, expected.steps.size()) << "only the last ones are missing";
}

INSTANTIATE_TEST_SUITE_P(parts, FollowedTraining, testing::Values(1, 2, 5, 17, 1000));

std::vector<std::string> ten_steps() {
  std::vector<std::string> lines;
  for (int i = 1; i <= 10; ++i) lines.push_back(fmt::format("{} output step {} loss=1", i, i));
  return lines;
}

bool continues(const std::vector<std::string>& lines, const std::vector<std::string>& more) {
  const auto follower = follow_training(StepsToFollow::all);
  const std::vector<StoredReport> before = parse_all(lines), after = parse_all(more);
  CHECK(follower->begin(part_of(before, 0, before.size()), 20, {}));
  const auto training = follower->add(*part_of(after, 0, after.size()), 30, {});
  CHECK(training);
  return training->has_value();
}

TEST(TrainingFollower, what_changes_earlier_steps_is_read_again) {
  EXPECT_TRUE(continues(ten_steps(), {"21 output step 11 loss=1"}));
  EXPECT_TRUE(continues(ten_steps(), {}));
  EXPECT_FALSE(continues(ten_steps(), {"21 pipe step 1"})) << "the pipe counts";
  EXPECT_FALSE(continues(ten_steps(), {"9 output step 11"})) << "before what was read";
  EXPECT_FALSE(continues(ten_steps(), {"21 pipe phase checkpoint 15"})) << "since 6 s";
  EXPECT_TRUE(continues(ten_steps(), {"21 pipe phase checkpoint 5"}));
  EXPECT_FALSE(continues({"1 pipe mark begin"}, {"21 output step 11"})) << "no steps were known";
}

TEST(TrainingFollower, steps_from_a_time_are_found_without_reading_those_before) {
  const auto follower = follow_training(StepsToFollow::all);
  const std::vector<StoredReport> steps = parse_all(ten_steps());
  ASSERT_TRUE(follower->begin(part_of(steps, 0, steps.size()), 20, {}));
  const auto training = follower->add(*part_of(steps, 0, 0), 30, {});
  ASSERT_TRUE(training && training->has_value());
  const auto first_from = [&](double time_s) {
    return read_all((*training)->details->steps_from(time_s)).front().step;
  };
  EXPECT_EQ(first_from(0), 1);
  EXPECT_EQ(first_from(3.5), 4);
  EXPECT_EQ(first_from(4), 4);
}

TEST(TrainingFollower, results_besides_the_steps_and_numbers_of_the_steps_are_known) {
  const auto follower = follow_training(StepsToFollow::all);
  const std::vector<StoredReport> before =
      parse_all({"1 pipe step 1 loss=2 accuracy=0.5 throughput=10", "2 pipe step 2 loss=1 lr=0.1",
                 "2.5 pipe step 2 set=test accuracy=0.25 loss=3", "2.7 output step 2 loss=1.5"});
  ASSERT_TRUE(follower->begin(part_of(before, 0, before.size()), 3, {}));
  const std::vector<StoredReport> more =
      parse_all({"3 pipe step 3 loss=0.5", "3.5 pipe step 3 set=test accuracy=0.75"});
  const auto training = follower->add(*part_of(more, 0, more.size()), 4, {});
  ASSERT_TRUE(training && training->has_value());
  std::string text;
  for (const TrainingNumber& number : read_all((*training)->details->results())) {
    text += fmt::format("{} {} {} {} {}; ", number.time_s, number.source, number.set, number.name,
                        number.value);
  }
  EXPECT_EQ(text,
            "2.5 pipe test accuracy 0.25; 2.5 pipe test loss 3; 2.7 output train loss 1.5; "
            "3.5 pipe test accuracy 0.75; ");
  const std::vector<Step> steps = read_all((*training)->details->steps());
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_EQ(steps[0].accuracy, 0.5);
  EXPECT_EQ(steps[0].throughput, 10);
  EXPECT_EQ(steps[2].loss, 0.5);
  EXPECT_FALSE(steps[2].accuracy);
}

// `view` shows a training to many readers while its run is followed (the tsan preset sees races).
TEST(TrainingFollower, what_is_shown_is_read_while_more_is_added) {
  const auto follower = follow_training(StepsToFollow::all);
  std::vector<StoredReport> all;
  for (int i = 1; i <= 20'000; ++i) {
    const std::string time = std::to_string(int64_t{1'000'000} * i);
    all.push_back(*parse_stored_report(time + " pipe step " + std::to_string(i)));
    if (i % 100 == 0) {
      all.push_back(*parse_stored_report(time + " pipe step 1 set=test accuracy=0.5"));
    }
  }
  const auto shown = follower->begin(part_of(all, 0, 1010), all[1009].time_s, {});
  ASSERT_TRUE(shown);
  std::atomic<bool> is_over = false;
  std::atomic<size_t> readings = 0;
  std::string wrong;
  std::thread reader([&] {
    for (; !is_over || readings == 0; ++readings) {
      const auto steps = read_all(shown->details->steps());
      const auto later = read_all(shown->details->steps_from(0.9));
      const auto results = read_all(shown->details->results());
      if (steps.size() != 1000 || steps.back().step != 1000 || later.size() != 101 ||
          results.size() != 10) {
        wrong = fmt::format("{} steps, {} later, {} results", steps.size(), later.size(),
                            results.size());
      }
    }
  });
  for (size_t at = 1010; at < all.size(); at += 101) {
    const auto more = follower->add(*part_of(all, at, at + 101), all[at + 100].time_s, {});
    EXPECT_TRUE(more && more->has_value());
  }
  is_over = true;
  reader.join();
  EXPECT_EQ(wrong, "");
}

TEST(TrainingFollower, printed_lines_that_are_refused_later_are_read_again) {
  const auto follower = follow_training(StepsToFollow::all);
  const std::vector<StoredReport> steps = parse_all(ten_steps());
  ASSERT_TRUE(follower->begin(part_of(steps, 0, steps.size()), 20, {}));
  const std::vector<Event> shared = {{21, std::string(kOutputIsShared), "two jobs write to it"}};
  const auto training = follower->add(*part_of(steps, 0, 0), 30, shared);
  ASSERT_TRUE(training);
  EXPECT_FALSE(training->has_value());
}

}  // namespace followed_training_test
}  // namespace trainscope
