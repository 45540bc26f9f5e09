#include "cli/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/help.h"
#include "cli/suggest.h"

namespace trainscope {
namespace {

using ::testing::HasSubstr;

class CompletionTest : public ::testing::Test {
 protected:
  CompletionTest() {
    run_ = root_.add_subcommand("run", "run it's job");
    run_->group("Commands");
    run_->add_option("--name", text_, "a name: [any]")->type_name("TEXT");
    run_->add_flag("-q,--quiet", flag_, "no words");
    run_->prefix_command();
    show_ = root_.add_subcommand("show", "show runs");
    show_->group("Commands");
    show_->add_option("RUN", many_, "runs")->type_name("RUN")->required();
    show_->add_option("--as", text_, "how")->type_name("FORMAT")->check(CLI::IsMember({"a", "b"}));
    root_.add_subcommand("secret", "not shown")->group("");
  }

  CLI::App root_{"program", "trainscope"};
  CLI::App* run_ = nullptr;
  CLI::App* show_ = nullptr;
  std::string text_;
  bool flag_ = false;
  std::vector<std::string> many_;
};

TEST_F(CompletionTest, DescribesTheTree) {
  const auto commands = describe_commands(root_);
  ASSERT_EQ(commands.size(), 2U);
  EXPECT_TRUE(commands[0].takes_job);
  ASSERT_EQ(commands[1].arguments.size(), 1U);
  EXPECT_EQ(commands[1].arguments[0].kind, Completes::runs);
  EXPECT_TRUE(commands[1].arguments_repeat);
  const CompletionOption& as = commands[1].options.back();
  EXPECT_EQ(as.names, std::vector<std::string>{"--as"});
  EXPECT_EQ(as.value.choices, (std::vector<std::string>{"a", "b"}));
}

TEST_F(CompletionTest, FlagsTakeNoValue) {
  const auto run = describe_commands(root_)[0];
  for (const CompletionOption& option : run.options) {
    EXPECT_EQ(option.takes_value, option.names.front() == "--name") << option.names.front();
  }
}

TEST_F(CompletionTest, HelpTextCannotLeaveItsQuotes) {
  EXPECT_THAT(zsh_completion(describe_commands(root_)), HasSubstr("'run:run it'\\''s job'"));
  EXPECT_THAT(zsh_completion(describe_commands(root_)), HasSubstr("[a name\\: \\[any\\]]"));
  EXPECT_THAT(fish_completion(describe_commands(root_)), HasSubstr("'run it\\'s job'"));
}

TEST_F(CompletionTest, UsageLines) {
  EXPECT_EQ(usage_line(*run_), "trainscope run [OPTIONS] -- COMMAND…");
  EXPECT_EQ(usage_line(*show_), "trainscope show [OPTIONS] RUN…");
}

TEST(Suggest, OnlyWhatIsNear) {
  const std::vector<std::string_view> known = {"run", "list", "export", "doctor"};
  EXPECT_EQ(did_you_mean("rnu", known), "; did you mean 'run'?");
  EXPECT_EQ(did_you_mean("exprot", known), "; did you mean 'export'?");
  EXPECT_EQ(did_you_mean("LIST", known), "; did you mean 'list'?");
  EXPECT_EQ(did_you_mean("frobnicate", known), "");
}

}  // namespace
}  // namespace trainscope
