#include "commands/arguments.h"

#include <gtest/gtest.h>

#include <array>
#include <sstream>
#include <vector>

#include "base/man_page.h"
#include "version.h"

namespace trainscope::workload {
namespace {

ParsedArguments parse(std::vector<const char*> words) {
  static constexpr std::array<ModelName, 2> kNames{{{"digits_cnn", "small"}, {"other", "large"}}};
  words.insert(words.begin(), "trainscope-workload");
  return parse_arguments(static_cast<int>(words.size()), words.data(), kNames);
}

TEST(Arguments, defaults_are_twenty_seconds_on_the_cpu) {
  const ParsedArguments parsed = parse({"train"});
  ASSERT_TRUE(parsed.train) << parsed.message;
  EXPECT_EQ(parsed.train->model, "digits_cnn");
  EXPECT_EQ(parsed.train->data, "auto");
  EXPECT_EQ(parsed.train->seconds, 20.0);
  EXPECT_FALSE(parsed.train->steps);
  EXPECT_EQ(parsed.train->batch, 64U);
  EXPECT_FALSE(parsed.train->device.cuda);
}

TEST(Arguments, another_limit_replaces_the_default_time) {
  const ParsedArguments parsed = parse({"train", "--steps", "50"});
  ASSERT_TRUE(parsed.train);
  EXPECT_EQ(parsed.train->steps, 50U);
  EXPECT_FALSE(parsed.train->seconds);
}

TEST(Arguments, takes_every_option) {
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

TEST(Arguments, takes_the_options_of_computing_and_input) {
  const ParsedArguments parsed = parse({"train",
                                        "--layout",
                                        "nhwc",
                                        "--precision",
                                        "bf16",
                                        "--optimizer",
                                        "sgd",
                                        "--loaders",
                                        "0",
                                        "--prefetch",
                                        "8",
                                        "--input",
                                        "stall:7x200ms",
                                        "--size",
                                        "64",
                                        "--inter-threads",
                                        "2",
                                        "--checkpoint",
                                        "c.st",
                                        "--checkpoints",
                                        "5s",
                                        "--resume",
                                        "--evaluations",
                                        "30s",
                                        "--export",
                                        "w.st",
                                        "--weights",
                                        "v.st",
                                        "--log-placement"});
  ASSERT_TRUE(parsed.train) << parsed.message;
  const TrainOptions& options = *parsed.train;
  EXPECT_TRUE(options.channels_last);
  EXPECT_EQ(options.precision, Precision::kBfloat16);
  EXPECT_EQ(options.optimizer, OptimizerKind::kSgd);
  EXPECT_EQ(options.loaders, 0U);
  EXPECT_EQ(options.prefetch, 8U);
  EXPECT_EQ(options.input.every, 7U);
  EXPECT_DOUBLE_EQ(options.input.delay_s, 0.2);
  EXPECT_EQ(options.side, 64U);
  EXPECT_EQ(options.inter_threads, 2);
  EXPECT_EQ(options.checkpoint, "c.st");
  EXPECT_DOUBLE_EQ(options.checkpoints_s, 5.0);
  EXPECT_TRUE(options.resume);
  EXPECT_EQ(options.evaluations_s, 30.0);
  EXPECT_EQ(options.export_file, "w.st");
  EXPECT_EQ(options.weights, "v.st");
  EXPECT_TRUE(options.log_placement);
}

TEST(Arguments, resume_needs_a_checkpoint) {
  EXPECT_EQ(parse({"train", "--resume"}).exit_code, 2);
  EXPECT_EQ(parse({"train", "--checkpoints", "5s"}).exit_code, 2);
}

TEST(Arguments, other_commands_have_their_own_options) {
  const ParsedArguments label = parse({"label", "cat.png", "--weights", "w", "--top", "3"});
  ASSERT_TRUE(label.label) << label.message;
  EXPECT_FALSE(label.train);
  EXPECT_EQ(label.label->image, "cat.png");
  EXPECT_EQ(label.label->top, 3U);
  EXPECT_EQ(parse({"label", "cat.png"}).exit_code, 2);
  const ParsedArguments transfer =
      parse({"transfer", "images", "--weights", "w", "--lr", "0.1,0.01"});
  ASSERT_TRUE(transfer.transfer) << transfer.message;
  EXPECT_EQ(transfer.transfer->learning_rates, (std::vector<double>{0.1, 0.01}));
  EXPECT_EQ(parse({"transfer", "images", "--weights", "w", "--lr", "0.1,"}).exit_code, 2);
}

TEST(Arguments, wrong_ones_are_usage_errors_that_name_the_option) {
  const std::vector<std::vector<const char*>> wrong{
      {"--seconds", "0"},   {"--seconds", "soon"}, {"--seconds", "-5"},  {"--steps", "0"},
      {"--steps", "-1"},    {"--steps", "1.5"},    {"--epochs", "x"},    {"--batch", "0"},
      {"--batch", "99999"}, {"--lr", "0"},         {"--lr", "nan"},      {"--lr", "1e400"},
      {"--seed", "-1"},     {"--threads", "0"},    {"--every", "0"},     {"--device", "tpu"},
      {"--model", "gpt"},   {"--layout", "x"},     {"--precision", "x"}, {"--input", "slow"},
      {"--optimizer", "x"}, {"--loaders", "-1"},   {"--size", "0"},
  };
  for (std::vector<const char*> words : wrong) {
    words.insert(words.begin(), "train");
    const ParsedArguments parsed = parse(words);
    EXPECT_FALSE(parsed.train) << words[1] << " " << words[2];
    EXPECT_EQ(parsed.exit_code, 2) << words[1] << " " << words[2];
    EXPECT_NE(parsed.message.find(words[1]), std::string::npos) << parsed.message;
  }
}

TEST(Arguments, unknown_words_and_no_command_are_usage_errors) {
  EXPECT_EQ(parse({}).exit_code, 2);
  EXPECT_EQ(parse({"fly"}).exit_code, 2);
  EXPECT_EQ(parse({"train", "--fast"}).exit_code, 2);
  EXPECT_EQ(parse({"train", "extra"}).exit_code, 2);
}

TEST(Arguments, speaks_like_trainscope) {
  EXPECT_EQ(parse({"fly"}).message,
            "trainscope-workload: unknown command 'fly'\ntry 'trainscope-workload --help'\n");
  EXPECT_NE(parse({"trian"}).message.find("; did you mean 'train'?\n"), std::string::npos);
  const ParsedArguments mistyped = parse({"train", "--stepz=5"});
  EXPECT_EQ(mistyped.message,
            "trainscope-workload: unknown option '--stepz' for train; did you mean '--steps'?\n"
            "try 'trainscope-workload train --help'\n");
  EXPECT_NE(parse({"train", "--steps"}).message.find("train: --steps needs a value: N\n"),
            std::string::npos)
      << parse({"train", "--steps"}).message;
  EXPECT_NE(parse({"label", "x.png"}).message.find("label: --weights is required\n"),
            std::string::npos);
  EXPECT_NE(parse({"train", "extra"}).message.find("train: unexpected argument 'extra'\n"),
            std::string::npos);
  for (const char* word : {"--version", "-v", "version"}) {
    const ParsedArguments version = parse({word});
    EXPECT_EQ(version.exit_code, 0);
    EXPECT_NE(kVersion, "");
    EXPECT_EQ(version.message, "trainscope-workload " + std::string(kVersion) + "\n");
  }
}

TEST(Arguments, options_may_be_in_any_order) {
  const ParsedArguments parsed = parse({"label", "--top", "3", "--weights", "w", "cat.png"});
  ASSERT_TRUE(parsed.label) << parsed.message;
  EXPECT_EQ(parsed.label->image, "cat.png");
}

TEST(Arguments, help_shows_examples_first) {
  const std::string help = parse({"label", "--help"}).message;
  EXPECT_LT(help.find("Examples:"), help.find("Usage: trainscope-workload label [OPTIONS] IMAGE"));
  EXPECT_LT(help.find("Arguments:"), help.find("Options:"));
  EXPECT_NE(help.find("--weights FILE"), std::string::npos) << help;
  EXPECT_EQ(parse({"--help"}).message, parse({"help"}).message);
}

TEST(Arguments, help_names_the_models_and_succeeds) {
  const ParsedArguments parsed = parse({"train", "--help"});
  EXPECT_FALSE(parsed.train);
  EXPECT_EQ(parsed.exit_code, 0);
  EXPECT_NE(parsed.message.find("digits_cnn"), std::string::npos) << parsed.message;
}

TEST(Arguments, the_manual_has_every_option_of_every_command) {
  const ParsedArguments manual = parse({"--man"});
  EXPECT_EQ(manual.exit_code, 0);
  EXPECT_EQ(manual.message.rfind(".TH \"trainscope\\-workload\"", 0), 0U) << manual.message;
  for (const char* command : {"train", "label", "transfer"}) {
    const std::string help = parse({command, "--help"}).message;
    std::istringstream lines(help);
    int options = 0;
    for (std::string line; std::getline(lines, line);) {
      if (line.rfind("  --", 0) != 0) continue;
      const std::string name = line.substr(2, line.find(' ', 2) - 2);
      EXPECT_NE(manual.message.find("\\fB" + roff_text(name) + "\\fR"), std::string::npos) << line;
      ++options;
    }
    EXPECT_GT(options, 5) << help;
  }
}

}  // namespace
}  // namespace trainscope::workload
