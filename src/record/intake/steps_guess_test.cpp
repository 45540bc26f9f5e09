#include "record/intake/steps_guess.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "record/intake/printed.h"
#include "record/record.h"
#include "record/sample/test_ring.h"
#include "testing/listed_reports.h"
#include "training/training.h"

namespace trainscope {
namespace steps_guess_test {

class StepsGuessTest : public testing::Test {
 protected:
  StepsGuessTest() : memory_(*SharedMemory::create(1 << 20)), ring_(memory_) {}
  ~StepsGuessTest() override { memory_.unmap(); }

  static std::string guess(const std::string& output) {
    StepsGuess guess;
    for (const std::string_view line : split(output, '\n')) guess.observe(line);
    return guess.pattern();
  }
  // What --steps-from finds in this output with this pattern.
  ListedTraining found(const std::string& output, const std::string& pattern) {
    PrintedSteps printed(sink_, pattern, unlimited_);
    printed.take(output, 0);
    printed.finish();
    std::vector<StoredReport> reports;
    const std::string stored = take_reports(ring_);
    for (const std::string_view line : split(stored, '\n')) {
      if (auto report = parse_stored_report(line)) reports.push_back(std::move(*report));
    }
    return read_listed(std::move(reports), 1);
  }

  SharedMemory memory_;
  Ring ring_;
  ProgressSink sink_{ring_, memory_};
  MatchingBudget unlimited_{0, [] { return int64_t{0}; }};
};

std::string repeated(const char* format, int count, int from = 1) {
  std::string lines;
  for (int i = from; i < from + count; ++i) lines += fmt::format(fmt::runtime(format), i) + "\n";
  return lines;
}

TEST_F(StepsGuessTest, the_guessed_pattern_counts_the_lines) {
  for (const char* line :
       {"it {} l=0.25", "[2026-11-16 12:00:00,123] trainer.py:45 INFO it={} | l=0.25 | 12 img",
        "{} 0.25 0.5", "  {}/600  0.25", "<{}> objective 0.25", "worker's batch #{}: ok (3 GPUs)",
        "at {:>6} of 100000: cost 0.25", "12:00:00Z up 5 took 3 ms: round {}.", "[{:>4}/100] fine",
        "n= {:>3}, l=0.25", "\x1b[32mrun\x1b[0m iteration\t{}\tdone",
        "(a+b)*[c] ^x$ step {{{}}} \\d"}) {
    const std::string output = "loading 3 files\n" + repeated(line, 23) + "done in 5 s\n";
    const std::string pattern = guess(output);
    ASSERT_NE(pattern, "") << line;
    EXPECT_TRUE(check_steps_pattern(pattern)) << pattern;
    EXPECT_EQ(pattern.find('\''), std::string::npos) << pattern;
    EXPECT_EQ(found(output, pattern).count, 23) << line << " " << pattern;
  }
}

TEST_F(StepsGuessTest, patterns_are_as_people_would_write_them) {
  EXPECT_EQ(guess(repeated("it {} l=0.25", 23)), R"(^it\s+(?<step>\d+))");
  EXPECT_EQ(guess(repeated("{} 0.25", 23)), R"(^\s*(?<step>\d+))");
  EXPECT_EQ(guess(repeated("Epoch {}: l 0.25", 23)), R"(^Epoch\s+(?<epoch>\d+))");
}

TEST_F(StepsGuessTest, the_loss_is_taken_too_if_every_line_names_it) {
  EXPECT_EQ(guess(repeated("it {} loss: 0.25", 23)),
            R"(^it\s+(?<step>\d+).*?loss[\s:=]+(?<loss>[-+.\deE]+))");
  for (const char* line : {"it {} | Loss=2.5e-01 | 12 GB", "<{}> train_loss 0.25 val_loss 0.5",
                           "it {} loss 0.25 of 3"}) {
    const std::string output = repeated(line, 23);
    const ListedTraining training = found(output, guess(output));
    EXPECT_EQ(training.count, 23) << line;
    EXPECT_EQ(training.steps.back().loss, 0.25) << line;
  }
  EXPECT_EQ(guess(repeated("it {} loss: 0.25", 23) + "it 24 done\n"), R"(^it\s+(?<step>\d+))");
  EXPECT_EQ(guess(repeated("it {} lossless", 23)), R"(^it\s+(?<step>\d+))");
}

TEST_F(StepsGuessTest, stack_traces_are_not_steps) {
  EXPECT_EQ(guess(repeated("frame #{}: c10::Error::Error(c10::SourceLocation) + 0x8c", 23, 0)), "");
  EXPECT_EQ(guess(repeated("#{}  0x00007f in main () from libtorch.so", 23, 0)), "");
  EXPECT_EQ(guess(repeated("  File \"train.py\", line {}, in forward", 23)), "");
}

TEST_F(StepsGuessTest, numbers_that_begin_again_in_each_epoch) {
  const std::string output = repeated("b {} l=0.25", 23) + repeated("b {} l=0.25", 23);
  EXPECT_EQ(found(output, guess(output)).count, 46);
}

TEST_F(StepsGuessTest, the_number_that_is_named_a_step_is_preferred) {
  std::string output;
  for (int i = 1; i <= 23; ++i) output += fmt::format("t {} step {} l=0.25\n", 37 * i, i);
  EXPECT_EQ(guess(output), R"(step\s+(?<step>\d+))");
}

TEST_F(StepsGuessTest, no_guess_where_nothing_grows) {
  EXPECT_EQ(guess(""), "");
  EXPECT_EQ(guess("it 1\nit 2\nit 3\n"), "") << "too few";
  EXPECT_EQ(guess(repeated("loss 0.{}", 23)), "");
  EXPECT_EQ(guess(repeated("12:00:{} waiting", 23, 10)), "");
  EXPECT_EQ(guess(repeated("{}% done", 23)), "");
  EXPECT_EQ(guess(repeated("{}MB read", 23)), "");
  EXPECT_EQ(guess(repeated("Downloading file {}", 23)), "");
  EXPECT_EQ(guess(repeated("validation batch {}", 23)), "");
  std::string constant, random;
  for (int i = 0; i < 23; ++i) constant += "rank 3 is ready\n";
  for (int i = 0; i < 23; ++i) random += fmt::format("port {}\n", i * 7919 % 23);
  EXPECT_EQ(guess(constant), "");
  EXPECT_EQ(guess(random), "");
}

TEST_F(StepsGuessTest, bytes_that_are_no_text_and_very_many_texts_do_no_harm) {
  std::string output;
  for (int i = 0; i < 6000; ++i) output += fmt::format("\xff{} {:x}g {}\n", i, i * 7919, i);
  const std::string pattern = guess(output);
  EXPECT_TRUE(pattern.empty() || check_steps_pattern(pattern)) << pattern;
  // One of the texts comes again after more others than are stored.
  std::string many;
  for (int i = 0; i < 600; ++i) {
    many +=
        fmt::format("{}{} 1\n", static_cast<char>('a' + i / 26), static_cast<char>('a' + i % 26));
  }
  EXPECT_EQ(guess(many + repeated("it {} l=0.25", 23)), R"(^it\s+(?<step>\d+))");
}

}  // namespace steps_guess_test
}  // namespace trainscope
