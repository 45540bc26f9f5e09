#include "cli/man.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/man_page.h"
#include "cli/cli.h"
#include "cli/setting_table.h"

namespace trainscope {
namespace man_test {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::Not;

const std::map<std::string, std::string>& all_pages() {
  static const auto pages = man_pages(describe_commands(Settings()));
  return pages;
}

TEST(ManPages, every_visible_command_has_a_page_with_all_of_its_options) {
  const auto commands = describe_commands(Settings());
  EXPECT_EQ(all_pages().size(), commands.size() + 1);
  for (const CommandOptions& described : commands) {
    const std::string name = "trainscope-" + std::string(described.command->name) + ".1";
    ASSERT_THAT(all_pages(), Contains(Key(name)));
    for (const Option& option : described.options->all()) {
      EXPECT_THAT(all_pages().at(name), HasSubstr("\n" + roff_text(option.help) + "\n"))
          << option.name;
      for (const std::string& one : option.names()) {
        EXPECT_THAT(all_pages().at(name), HasSubstr(roff_text(one))) << name;
      }
    }
  }
}

TEST(ManPages, the_page_of_the_program_has_commands_and_variables) {
  const std::string& page = all_pages().at("trainscope.1");
  for (const CommandOptions& described : describe_commands(Settings())) {
    const std::string name = "trainscope-" + std::string(described.command->name);
    EXPECT_THAT(page, HasSubstr(roff_text(name + "(1)")));
  }
  for (const SettingSpec& spec : setting_specs()) {
    EXPECT_THAT(page, HasSubstr("\\fB" + setting_variable(spec.name) + "\\fR"));
  }
}

TEST(ManPages, exit_codes_are_those_of_the_command) {
  EXPECT_THAT(all_pages().at("trainscope-run.1"), HasSubstr("\\fB124\\fR"));
  EXPECT_THAT(all_pages().at("trainscope-list.1"), Not(HasSubstr("\\fB124\\fR")));
  EXPECT_THAT(all_pages().at("trainscope-list.1"), HasSubstr("\\fB2\\fR"));
  // What 0 means for `attach` replaces what it means for every command.
  EXPECT_THAT(all_pages().at("trainscope-attach.1"), Not(HasSubstr("\\fB0\\fR\ndone\n")));
}

}  // namespace man_test
}  // namespace trainscope
