#include "cli/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/cli.h"
#include "cli/help.h"

namespace trainscope {
namespace completion_test {

using ::testing::HasSubstr;

class CompletionTest : public ::testing::Test {
 protected:
  CompletionTest() {
    const auto nothing = [](const std::string&) {};
    Options& run = *commands_[0].options;
    run.add({.name = "--name", .value = "TEXT", .help = "a name: [any]", .set = nothing});
    run.add({.name = "-q,--quiet", .value = "", .help = "no words", .set = nothing});
    run.take_job();
    Options& show = *commands_[1].options;
    show.add({.name = "RUN",
              .value = "RUN",
              .help = "runs",
              .is_required = true,
              .repeats = true,
              .set = nothing});
    show.add(
        {.name = "--as", .value = "FORMAT", .help = "how", .choices = {"a", "b"}, .set = nothing});
  }

  Command run_{.name = "run", .summary = "run it's job", .examples = "", .add = nullptr};
  Command show_{.name = "show", .summary = "show runs", .examples = "", .add = nullptr};
  std::vector<CommandOptions> commands_ = {{&run_, std::make_shared<Options>()},
                                           {&show_, std::make_shared<Options>()}};
};

TEST_F(CompletionTest, describes_the_tree) {
  const auto commands = describe_completion(commands_);
  ASSERT_EQ(commands.size(), 2U);
  EXPECT_TRUE(commands[0].takes_job);
  ASSERT_EQ(commands[1].arguments.size(), 1U);
  EXPECT_EQ(commands[1].arguments[0].kind, Completes::runs);
  EXPECT_TRUE(commands[1].arguments_repeat);
  const CompletionOption& as = commands[1].options.back();
  EXPECT_EQ(as.names, std::vector<std::string>{"--as"});
  EXPECT_EQ(as.value.choices, (std::vector<std::string>{"a", "b"}));
}

TEST_F(CompletionTest, flags_take_no_value) {
  const auto run = describe_completion(commands_)[0];
  for (const CompletionOption& option : run.options) {
    EXPECT_EQ(option.takes_value, option.names.front() == "--name") << option.names.front();
  }
}

TEST_F(CompletionTest, help_text_cannot_leave_its_quotes) {
  EXPECT_THAT(zsh_completion(describe_completion(commands_)), HasSubstr("'run:run it'\\''s job'"));
  EXPECT_THAT(zsh_completion(describe_completion(commands_)), HasSubstr("[a name\\: \\[any\\]]"));
  EXPECT_THAT(fish_completion(describe_completion(commands_)), HasSubstr("'run it\\'s job'"));
}

TEST_F(CompletionTest, options_of_the_program_have_the_words_of_its_help) {
  const auto commands = describe_completion(commands_);
  for (const std::string& text : {zsh_completion(commands), fish_completion(commands)}) {
    EXPECT_THAT(text, HasSubstr(std::string(kHelpHelp)));
    EXPECT_THAT(text, HasSubstr(std::string(kVersionHelp)));
  }
}

TEST_F(CompletionTest, usage_lines) {
  EXPECT_EQ(usage_line(commands_[0]), "trainscope run [OPTIONS] -- COMMAND…");
  EXPECT_EQ(usage_line(commands_[1]), "trainscope show [OPTIONS] RUN…");
}

}  // namespace completion_test
}  // namespace trainscope
