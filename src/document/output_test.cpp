#include "document/output.h"

#include <gtest/gtest.h>

#include "base/fd.h"
#include "base/json.h"
#include "format/format.h"
#include "testing/fake_run.h"
#include "testing/temporary_folder.h"

namespace trainscope {
namespace document_output_test {

class OutputTest : public testing::Test {
 protected:
  OutputTest() { run_.set_path(folder_.path()); }
  void write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(replace_file(folder_.path() + "/" + name, text));
  }
  // Printed steps 10, 20, …, one each second.
  void set_printed_steps(int count) {
    std::vector<Step> steps;
    for (int i = 1; i <= count; ++i) {
      Step step;
      step.step = step.covers = 10 * i;
      step.reported_number = 10 * i;
      step.time_s = i;
      steps.push_back(step);
    }
    Training training;
    training.source = "output";
    training.details = std::make_shared<ListedSteps>(steps);
    run_.set_training(training);
  }
  struct Dated {
    double time_s;
    std::string text;
  };
  // A part whose pieces were read at these times after t = 0.
  void write_dated(const std::string& name, const std::vector<Dated>& pieces) {
    run_.own_manifest().zero_monotonic_ns = kZero;
    std::string text, times;
    for (const Dated& piece : pieces) {
      append_output_time(times, kZero + static_cast<int64_t>(piece.time_s * 1e9), text.size());
      text += piece.text;
    }
    write(name + ".log", text);
    write(name + ".times", times);
  }
  static std::string text_at(const Json& found) {
    return found["lines"][found["at"].get<size_t>()]["text"];
  }
  Json lines(std::optional<double> at_s, size_t count) {
    const auto index = OutputIndex::read(run_);
    CHECK(index);
    const auto document = index->lines(at_s, count);
    CHECK(document);
    return *document;
  }

  static constexpr int64_t kZero = 5'000'000'000'000;
  TemporaryFolder folder_;
  FakeRun run_{1, 100};
};

TEST_F(OutputTest, without_printed_steps_the_last_lines_have_no_times) {
  write("output.log", "one\ntwo\nthree\nfour");
  const Json found = lines(5, 2);
  ASSERT_EQ(found["lines"].size(), 2U);
  EXPECT_EQ(found["lines"][1]["text"], "four");
  EXPECT_TRUE(found["lines"][1]["time_s"].is_null());
  EXPECT_EQ(found["times"], "unknown");
  EXPECT_TRUE(found["at"].is_null());
  EXPECT_EQ(found["more_before"], true);
  EXPECT_EQ(found["more_after"], false);
}

TEST_F(OutputTest, printed_steps_give_times_to_the_lines_between_them) {
  std::string log = "reading 10 files of 100 MB\nloaded\n";
  for (int i = 1; i <= 500; ++i) {
    log += "step " + std::to_string(10 * i) + " loss 0.5\nsaved\n";
  }
  write("output.log", log);
  set_printed_steps(500);
  const Json found = lines(300.2, 5);
  EXPECT_EQ(found["times"], "estimated");
  const Json& at = found["lines"][found["at"].get<size_t>()];
  EXPECT_EQ(at["text"], "step 3000 loss 0.5");
  EXPECT_NEAR(at["time_s"].get<double>(), 300, 1e-9);
  EXPECT_NEAR(found["lines"][found["at"].get<size_t>() + 1]["time_s"].get<double>(), 300.5, 1e-9);
  EXPECT_EQ(found["more_before"], true);
  EXPECT_EQ(found["more_after"], true);
  EXPECT_EQ(lines(1e9, 3)["lines"].back()["text"], "saved");
}

TEST_F(OutputTest, parts_follow_each_other_and_long_lines_are_cut) {
  write("output.log", std::string(3'000'000, 'x') + "\nend of the first part\n");
  write("output.1.log", "a\nb\r\n");
  write("output.2.log", "10 %\r20 %\r30 %\n");
  const Json found = lines(std::nullopt, 10);
  ASSERT_EQ(found["lines"].size(), 5U);
  EXPECT_EQ(found["lines"][0]["text"].get<std::string>().size(), 2000U);
  EXPECT_EQ(found["lines"][1]["text"], "end of the first part");
  EXPECT_EQ(found["lines"][3]["text"], "b");
  EXPECT_EQ(found["lines"][4]["text"], "30 %");
}

TEST_F(OutputTest, a_run_without_output_has_no_lines) {
  const Json found = lines(1, 10);
  EXPECT_TRUE(found["lines"].empty());
  EXPECT_EQ(found["more_after"], false);
}

TEST_F(OutputTest, every_line_has_the_time_when_it_was_read) {
  write_dated("output",
              {{-0.5, "hello\n"}, {2, "a\nb\n"}, {5, "waits "}, {60, "and ends\n\nlast"}});
  set_printed_steps(3);  // which count no more
  const Json found = lines(3, 10);
  EXPECT_EQ(found["times"], "read");
  EXPECT_NEAR(found["within_s"].get<double>(), 0.1, 1e-9);
  EXPECT_TRUE(found["late"].is_null());
  const std::vector<double> expected = {0, 2, 2, 60, 60, 60};
  ASSERT_EQ(found["lines"].size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(found["lines"][i]["time_s"].get<double>(), expected[i], 1e-9) << i;
  }
  EXPECT_EQ(text_at(found), "b");  // the last that was there
  EXPECT_EQ(text_at(lines(0, 10)), "hello");
  EXPECT_EQ(text_at(lines(59.9, 10)), "b");
  EXPECT_EQ(text_at(lines(60, 10)), "last");
}

TEST_F(OutputTest, printed_steps_have_their_exact_time) {
  write_dated("output", {{1, "step 10\nsaved 30\nstep 20\n"}, {3.05, "step 30\n"}});
  std::vector<Step> steps(3);
  const double times_s[] = {1, 1.06, 3.05};
  for (size_t i = 0; i < 3; ++i) {
    steps[i].step = *(steps[i].reported_number = 10 * static_cast<int64_t>(i + 1));
    steps[i].time_s = times_s[i];
  }
  Training training;
  training.source = "output";
  training.details = std::make_shared<ListedSteps>(steps);
  run_.set_training(training);
  const Json found = lines(1.06, 10);
  EXPECT_EQ(found["lines"][1]["time_s"], 1.0);
  EXPECT_EQ(found["lines"][2]["time_s"], 1.06);
  EXPECT_EQ(found["lines"][3]["time_s"], 3.05);
  EXPECT_EQ(text_at(found), "step 20");
  EXPECT_EQ(text_at(lines(1.05, 10)), "saved 30");
}

TEST_F(OutputTest, parts_have_their_own_times_and_one_without_them_has_none) {
  write_dated("output", {{1, "a\n"}, {2, "b\n"}});
  write("output.1.log", "c\nd\n");
  write_dated("output.2", {{9, "e\n"}});
  const Json found = lines(8, 10);
  ASSERT_EQ(found["lines"].size(), 5U);
  EXPECT_EQ(found["lines"][1]["time_s"], 2.0);
  EXPECT_TRUE(found["lines"][2]["time_s"].is_null());
  EXPECT_TRUE(found["lines"][3]["time_s"].is_null());
  EXPECT_EQ(found["lines"][4]["time_s"], 9.0);
  EXPECT_EQ(text_at(found), "b");
  EXPECT_EQ(text_at(lines(9, 10)), "e");
}

TEST_F(OutputTest, how_exact_times_are_is_said) {
  write_dated("output", {{1, "a\n"}, {2, "b\n"}});
  run_.add_event({0, std::string(kOutputIsPolled), "no inotify"});
  EXPECT_EQ(lines(1, 10)["late"], "no inotify");
  std::string times = *read_file(folder_.path() + "/output.times");
  write("output.times", times + std::string(kOutputTimeBytes, '\0'));
  EXPECT_TRUE(lines(1, 10)["within_s"].is_null());
  EXPECT_EQ(lines(1, 10)["lines"][1]["time_s"], 2.0);
}

TEST_F(OutputTest, without_a_beginning_times_are_unknown) {
  write_dated("output", {{1, "a\n"}});
  run_.own_manifest().zero_monotonic_ns = 0;
  EXPECT_EQ(lines(1, 10)["times"], "unknown");
  EXPECT_TRUE(lines(1, 10)["within_s"].is_null());
}

}  // namespace document_output_test
}  // namespace trainscope
