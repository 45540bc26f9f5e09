#include "export/support/steps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "export/support/followed_samples.h"
#include "export/support/followed_steps.h"
#include "testing/fake_run.h"

namespace trainscope {

namespace jsonl_exporter {
extern const Exporter entry;
}

namespace steps_test {

Step step_at(int64_t number, double time_s) {
  Step step;
  step.step = number;
  step.time_s = time_s;
  return step;
}

FakeRun run_of(std::vector<Step> steps) {
  FakeRun run(0.1, 100);
  Training training;
  training.source = "pipe";
  training.observed = static_cast<int64_t>(steps.size());
  training.count = training.observed;
  training.details = std::make_shared<ListedSteps>(std::move(steps));
  run.set_training(std::move(training));
  return run;
}

FakeRun two_steps() {
  Step first = step_at(1, 0.5), second = step_at(2, 1.25);
  first.reported_number = 7;
  first.loss = 0.5;
  first.kind = "warmup";
  first.numbers = {{"lr", 0.001}, {"kind", 3}};
  second.epoch = 2;
  second.duration_s = 0.75;
  second.numbers = {{"a,b", -1}, {"lr", 0.002}};
  return run_of({first, second});
}

using Write = Status (*)(const RunView&, const ExportOptions&, const ExportSink&);

std::string written(Write write, const RunView& run, const ExportOptions& options = {}) {
  std::string out;
  const Status done = write(run, options, [&](std::string_view text) -> Status {
    for (const char c : text) out += c == '\r' ? "" : std::string(1, c);
    return {};
  });
  return done ? out : "error: " + done.error().message();
}

TEST(steps, csv_has_a_row_for_each_and_leaves_unknown_fields_empty) {
  EXPECT_EQ(written(write_steps_csv, two_steps()),
            "step,reported_step,epoch,time_s,duration_s,covers,input_wait_s,loss,accuracy,"
            "throughput,kind,lr,reported_kind,\"a,b\"\n"
            "1,7,,0.500000,,1,,0.5,,,warmup,0.001,3,\n"
            "2,,2,1.250000,0.75,1,,,,,step,0.002,,-1\n");
}

TEST(steps, json_lines_have_null_for_what_is_unknown) {
  const std::string text = written(write_steps_jsonl, two_steps());
  EXPECT_NE(text.find("\"rows\":\"steps\""), std::string::npos);
  EXPECT_NE(text.find("\n{\"step\":1,\"reported_step\":7,\"epoch\":null,\"time_s\":0.500000,"
                      "\"duration_s\":null,\"covers\":1,\"input_wait_s\":null,\"loss\":0.5,"
                      "\"accuracy\":null,\"throughput\":null,\"kind\":\"warmup\",\"lr\":0.001,"
                      "\"reported_kind\":3}\n"),
            std::string::npos)
      << text;
}

TEST(steps, of_a_range) {
  ExportOptions options;
  options.range = {0.5, 1.25};
  const std::string text = written(write_steps_csv, two_steps(), options);
  EXPECT_NE(text.find("\n1,7,"), std::string::npos) << text;
  EXPECT_EQ(text.find("\n2,"), std::string::npos) << text;
  EXPECT_EQ(text.find("a,b"), std::string::npos) << "a column of a step outside of the range";
}

TEST(steps, a_run_without_steps_has_a_header_only) {
  const FakeRun run(0.1, 1);
  EXPECT_EQ(written(write_steps_csv, run),
            "step,reported_step,epoch,time_s,duration_s,covers,input_wait_s,loss,accuracy,"
            "throughput,kind\n");
}

TEST(steps, a_job_that_invents_names_gets_no_table) {
  std::vector<Step> steps;
  for (size_t i = 0; i <= kMaxStepNumbers; ++i) {
    steps.push_back(step_at(static_cast<int64_t>(i), static_cast<double>(i)));
    steps.back().numbers = {{"n" + std::to_string(i), 1}};
  }
  const FakeRun run = run_of(steps);
  EXPECT_NE(written(write_steps_csv, run).find("use --to jsonl"), std::string::npos);
  EXPECT_EQ(written(write_steps_jsonl, run).find("error:"), std::string::npos);
}

// ---- Following

struct Followed {
  std::string text;
  ExportSink sink = [this](std::string_view more) -> Status {
    text += more;
    return {};
  };
  // What was written since the last call.
  std::string take() { return std::exchange(text, ""); }
};

std::vector<Step> many_steps(int64_t count) {
  std::vector<Step> steps;
  for (int64_t i = 1; i <= count; ++i) steps.push_back(step_at(i, static_cast<double>(i)));
  return steps;
}

size_t lines_of(const std::string& text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(followed_steps, are_written_once_and_the_last_at_the_end) {
  const ExportOptions options;
  Followed out;
  const auto followed = follow_steps(options, out.sink);
  ASSERT_TRUE(followed->begin(run_of(many_steps(19))));
  EXPECT_EQ(lines_of(out.take()), 1U) << "a header; what is warm-up is not known yet";
  ASSERT_TRUE(followed->add_whole(run_of(many_steps(30))));
  EXPECT_EQ(lines_of(out.take()), 29U);
  ASSERT_TRUE(followed->add_whole(run_of(many_steps(30))));
  EXPECT_EQ(out.take(), "");
  const auto fault = followed->finish(run_of(many_steps(31)));
  ASSERT_TRUE(fault);
  EXPECT_EQ(*fault, "");
  const std::string last = out.take();
  EXPECT_EQ(lines_of(last), 2U);
  EXPECT_TRUE(last.starts_with("{\"step\":30,")) << last;
}

TEST(followed_steps, of_a_part_continue_those_of_the_whole_run) {
  const ExportOptions options;
  Followed out;
  const auto followed = follow_steps(options, out.sink);
  ASSERT_TRUE(followed->begin(run_of(many_steps(19))));
  EXPECT_TRUE(followed->needs_whole());
  ASSERT_TRUE(followed->add_whole(run_of(many_steps(25))));
  EXPECT_FALSE(followed->needs_whole());
  EXPECT_EQ(lines_of(out.take()), 25U) << "the header and all but the last";
  const std::vector<Step> all = many_steps(30);
  ASSERT_TRUE(followed->add(run_of({all.begin() + 22, all.begin() + 27})));
  const std::string more = out.take();
  EXPECT_EQ(lines_of(more), 3U) << "25 to 27";
  EXPECT_TRUE(more.starts_with("{\"step\":25,")) << more;
  const auto fault = followed->finish(run_of(all));
  ASSERT_TRUE(fault);
  EXPECT_EQ(*fault, "") << "what was written part by part is what an export writes";
  EXPECT_EQ(lines_of(out.take()), 3U);
}

TEST(followed_steps, that_changed_are_said_at_the_end) {
  const ExportOptions options;
  Followed out;
  const auto followed = follow_steps(options, out.sink);
  ASSERT_TRUE(followed->begin(run_of(many_steps(30))));
  std::vector<Step> steps = many_steps(40);
  steps[3].loss = 1;
  ASSERT_TRUE(followed->add_whole(run_of(steps)));
  const auto fault = followed->finish(run_of(steps));
  ASSERT_TRUE(fault);
  EXPECT_NE(fault->find("changed"), std::string::npos);
}

// A run that has recorded so many seconds of a counter, ten samples each.
FakeRun recorded(int seconds, RunStatus status) {
  FakeRun run(0.1, seconds);
  std::vector<double> times, values;
  for (int i = 0; i <= 10 * seconds; ++i) {
    times.push_back(i * 0.1);
    values.push_back(i);
  }
  run.add("a", {}, Kind::counter, times, values);
  run.set_status(status);
  return run;
}

TEST(followed_samples, are_written_once_and_the_last_second_later) {
  const ExportOptions options;
  Followed out;
  const auto followed = follow_samples(options, out.sink);
  ASSERT_TRUE(followed->begin(recorded(2, RunStatus::running)));
  EXPECT_EQ(lines_of(out.take()), 1U + 11U);
  ASSERT_TRUE(followed->add(recorded(5, RunStatus::running)));
  const std::string more = out.take();
  EXPECT_EQ(lines_of(more), 30U);
  EXPECT_TRUE(more.starts_with("{\"time_s\":1.100000,")) << more;
  ASSERT_TRUE(followed->finish(recorded(5, RunStatus::ended)));
  EXPECT_EQ(lines_of(out.take()), 10U);
}

// The rows that are held back are not in the next part any more.
TEST(followed_samples, what_was_held_back_is_not_lost) {
  const ExportOptions options;
  Followed out;
  const auto followed = follow_samples(options, out.sink);
  ASSERT_TRUE(followed->begin(recorded(1, RunStatus::running)));
  EXPECT_EQ(lines_of(out.take()), 1U + 1U);
  FakeRun part(0.1, 3);
  part.add("a", {}, Kind::counter, {1.0, 1.1, 2.9, 3.0}, {10, 11, 29, 30});
  part.set_status(RunStatus::running);
  ASSERT_TRUE(followed->add(part));
  const std::string more = out.take();
  EXPECT_EQ(lines_of(more), 11U) << more;  // 0.1 to 1.1
  EXPECT_TRUE(more.starts_with("{\"time_s\":0.100000,")) << more;
  // It ended at 1.1 s after all: what was held back from after that does not count.
  ASSERT_TRUE(followed->finish(recorded(1, RunStatus::ended)));
  EXPECT_EQ(out.take(), "");
}

TEST(followed_samples, a_series_that_appears_later_is_announced) {
  const ExportOptions options;
  Followed out;
  const auto followed = follow_samples(options, out.sink);
  ASSERT_TRUE(followed->begin(recorded(2, RunStatus::running)));
  out.take();
  FakeRun part = recorded(2, RunStatus::running);
  part.add("b", {}, Kind::gauge, {0.5}, {1});
  ASSERT_TRUE(followed->add(part));
  const std::string more = out.take();
  EXPECT_EQ(lines_of(more), 2U) << more;
  EXPECT_NE(more.find("\"series\":[{\"derived\":false,\"kind\":\"gauge\",\"labels\":{},"
                      "\"metric\":\"b\""),
            std::string::npos)
      << more;
}

TEST(followed_samples, of_series_whose_labels_look_alike_are_all_written) {
  const auto run_until = [](int seconds, RunStatus status) {
    FakeRun run(0.1, seconds);
    std::vector<double> times, values;
    for (int i = 0; i <= seconds; ++i) {
      times.push_back(i);
      values.push_back(i);
    }
    run.add("m", {{"a", "1;b=2"}}, Kind::gauge, times, values);
    run.add("m", {{"a", "1"}, {"b", "2"}}, Kind::gauge, times, values);
    run.set_status(status);
    return run;
  };
  const ExportOptions options;
  Followed out;
  const auto followed = follow_samples(options, out.sink);
  ASSERT_TRUE(followed->begin(run_until(2, RunStatus::running)));
  ASSERT_TRUE(followed->add(run_until(3, RunStatus::running)));
  ASSERT_TRUE(followed->finish(run_until(4, RunStatus::ended)));
  const FakeRun ended = run_until(4, RunStatus::ended);
  const std::string whole = written(jsonl_exporter::entry.write, ended, options);
  const std::string parts = out.take();
  EXPECT_EQ(parts.substr(parts.find('\n')), whole.substr(whole.find('\n')));
}

// Buckets and rates do not care where a part ends.
TEST(followed_samples, in_buckets_are_those_of_an_export) {
  for (const bool rates : {false, true}) {
    ExportOptions options;
    options.every_ns = 300'000'000;
    options.rates = rates;
    Followed out;
    const auto followed = follow_samples(options, out.sink);
    ASSERT_TRUE(followed->begin(recorded(2, RunStatus::running)));
    ASSERT_TRUE(followed->add(recorded(3, RunStatus::running)));
    ASSERT_TRUE(followed->finish(recorded(4, RunStatus::ended)));
    const std::string whole =
        written(jsonl_exporter::entry.write, recorded(4, RunStatus::ended), options);
    const std::string parts = out.take();
    EXPECT_EQ(parts.substr(parts.find('\n')), whole.substr(whole.find('\n')));
  }
}

}  // namespace steps_test
}  // namespace trainscope
