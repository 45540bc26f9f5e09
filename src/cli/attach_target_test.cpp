#include "cli/attach_target.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <map>

namespace trainscope {
namespace attach_target_test {

std::string parsed(const std::vector<std::string>& texts) {
  const auto pids = parse_process_ids(texts);
  if (!pids) return pids.error().message();
  std::string text;
  for (const pid_t pid : *pids) text += std::to_string(pid) + " ";
  return text;
}

TEST(AttachTarget, takes_what_pgrep_prints) {
  EXPECT_EQ(parsed({"12"}), "12 ");
  EXPECT_EQ(parsed({"12", "34"}), "12 34 ");
  EXPECT_EQ(parsed({"12\n34\n"}), "12 34 ");
  EXPECT_EQ(parsed({"12,34 12"}), "12 34 ");
  EXPECT_NE(parsed({"12", "x"}).find("'x' is not a process id"), std::string::npos);
  EXPECT_NE(parsed({"0"}).find("'0' is not a process id"), std::string::npos);
  EXPECT_NE(parsed({""}).find("is the job running?"), std::string::npos);
}

TEST(AttachTarget, follows_the_process_that_the_others_descend_from) {
  const std::map<pid_t, pid_t> parents = {{10, 1}, {20, 10}, {21, 10}, {30, 21}, {40, 1}};
  const auto parent_of = [&](pid_t pid) {
    const auto found = parents.find(pid);
    return found == parents.end() ? 0 : found->second;
  };
  EXPECT_EQ(*common_root({10}, parent_of), 10);
  EXPECT_EQ(*common_root({30, 20, 10, 21}, parent_of), 10);
  EXPECT_EQ(*common_root({21, 30}, parent_of), 21);
  const auto unrelated = common_root({20, 21}, parent_of);
  ASSERT_FALSE(unrelated);
  EXPECT_NE(unrelated.error().message().find("20 and 21"), std::string::npos);
  EXPECT_FALSE(common_root({10, 40}, parent_of));
}

TEST(AttachTarget, knows_the_parent_of_a_process) {
  EXPECT_EQ(parent_of_process(::getpid()), ::getppid());
  EXPECT_EQ(parent_of_process(4'194'304), 0);
  EXPECT_TRUE(check_readable(::getpid()));
}

}  // namespace attach_target_test
}  // namespace trainscope
