#include "arguments.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace trainscope::workload {
namespace {

ParsedArguments parse(std::vector<const char*> words) {
  static constexpr std::array<ModelName, 2> kNames{{{"digits_cnn", "small"}, {"other", "large"}}};
  words.insert(words.begin(), "trainscope-workload");
  return parse_arguments(static_cast<int>(words.size()), words.data(), kNames);
}

TEST(Arguments, DefaultsAreTwentySecondsOnTheCpu) {
  const ParsedArguments parsed = parse({"train"});
  ASSERT_TRUE(parsed.train) << parsed.message;
  EXPECT_EQ(parsed.train->model, "digits_cnn");
  EXPECT_EQ(parsed.train->data, "auto");
  EXPECT_EQ(parsed.train->seconds, 20.0);
  EXPECT_FALSE(parsed.train->steps);
  EXPECT_EQ(parsed.train->batch, 64U);
  EXPECT_FALSE(parsed.train->device.cuda);
}

TEST(Arguments, AnotherLimitReplacesTheDefaultTime) {
  const ParsedArguments parsed = parse({"train", "--steps", "50"});
  ASSERT_TRUE(parsed.train);
  EXPECT_EQ(parsed.train->steps, 50U);
  EXPECT_FALSE(parsed.train->seconds);
}

TEST(Arguments, TakesEveryOption) {
  const ParsedArguments parsed =
      parse({"train",    "--model",   "other",   "--seconds",  "2m",    "--steps",  "7",
             "--epochs", "3",         "--batch", "32",         "--lr",  "1e-2",     "--seed",
             "9",        "--threads", "1",       "--data",     "drawn", "--device", "cuda:2",
             "--strict", "--every",   "5",       "--step-log", "s.log"});
  ASSERT_TRUE(parsed.train) << parsed.message;
  const TrainOptions& options = *parsed.train;
  EXPECT_EQ(options.model, "other");
  EXPECT_EQ(options.seconds, 120.0);
  EXPECT_EQ(options.steps, 7U);
  EXPECT_EQ(options.epochs, 3U);
  EXPECT_EQ(options.batch, 32U);
  EXPECT_DOUBLE_EQ(options.learning_rate, 0.01);
  EXPECT_EQ(options.seed, 9U);
  EXPECT_EQ(options.threads, 1);
  EXPECT_EQ(options.data, "drawn");
  EXPECT_TRUE(options.device.cuda);
  EXPECT_EQ(options.device.index, 2);
  EXPECT_TRUE(options.strict);
  EXPECT_EQ(options.every, 5U);
  EXPECT_EQ(options.step_log, "s.log");
}

TEST(Arguments, WrongOnesAreUsageErrorsThatNameTheOption) {
  const std::vector<std::vector<const char*>> wrong{
      {"--seconds", "0"},   {"--seconds", "soon"}, {"--seconds", "-5"}, {"--steps", "0"},
      {"--steps", "-1"},    {"--steps", "1.5"},    {"--epochs", "x"},   {"--batch", "0"},
      {"--batch", "99999"}, {"--lr", "0"},         {"--lr", "nan"},     {"--lr", "1e400"},
      {"--seed", "-1"},     {"--threads", "0"},    {"--every", "0"},    {"--device", "tpu"},
      {"--model", "gpt"},
  };
  for (std::vector<const char*> words : wrong) {
    words.insert(words.begin(), "train");
    const ParsedArguments parsed = parse(words);
    EXPECT_FALSE(parsed.train) << words[1] << " " << words[2];
    EXPECT_EQ(parsed.exit_code, 2) << words[1] << " " << words[2];
    EXPECT_NE(parsed.message.find(words[1]), std::string::npos) << parsed.message;
  }
}

TEST(Arguments, UnknownWordsAndNoCommandAreUsageErrors) {
  EXPECT_EQ(parse({}).exit_code, 2);
  EXPECT_EQ(parse({"fly"}).exit_code, 2);
  EXPECT_EQ(parse({"train", "--fast"}).exit_code, 2);
  EXPECT_EQ(parse({"train", "extra"}).exit_code, 2);
}

TEST(Arguments, HelpNamesTheModelsAndSucceeds) {
  const ParsedArguments parsed = parse({"train", "--help"});
  EXPECT_FALSE(parsed.train);
  EXPECT_EQ(parsed.exit_code, 0);
  EXPECT_NE(parsed.message.find("digits_cnn"), std::string::npos) << parsed.message;
}

TEST(ParseDuration, Units) {
  EXPECT_EQ(parse_duration_s("20"), 20.0);
  EXPECT_EQ(parse_duration_s("20s"), 20.0);
  EXPECT_EQ(parse_duration_s("500ms"), 0.5);
  EXPECT_EQ(parse_duration_s("2m"), 120.0);
  EXPECT_EQ(parse_duration_s("1.5h"), 5400.0);
}

TEST(ParseDuration, RefusesWhatIsNoPositiveTime) {
  for (const char* text :
       {"", "s", "ms", "-1", "0", "0s", "nan", "inf", "1e9h", "2 m", "5x", "1s2"}) {
    EXPECT_FALSE(parse_duration_s(text)) << text;
  }
}

TEST(ParseDevice, KnowsCpuAndCuda) {
  EXPECT_FALSE(parse_device("cpu")->cuda);
  EXPECT_EQ(parse_device("cuda")->index, 0);
  EXPECT_EQ(parse_device("cuda:3")->index, 3);
  for (const char* text : {"", "CPU", "cuda:", "cuda:-1", "cuda:x", "cuda:128", "cuda0", "cpu:0"}) {
    EXPECT_FALSE(parse_device(text)) << text;
  }
}

}  // namespace
}  // namespace trainscope::workload
