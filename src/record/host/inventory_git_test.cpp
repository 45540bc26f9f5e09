#include <gtest/gtest.h>

#include "record/host/inventory.h"
#include "testing/test_root.h"

namespace trainscope {
namespace inventory_git_test {

const std::string kHash(40, 'a');
const std::string kOther(40, 'b');

TEST(Git, loose_branch_from_a_folder_below) {
  const TestRoot root;
  root.write("/w/.git/HEAD", "ref: refs/heads/feature/x\n");
  root.write("/w/.git/refs/heads/feature/x", kHash + "\n");
  const OrderedJson state = git_state(root.path(), "/w/src/deep");
  EXPECT_EQ(state["commit"], kHash);
  EXPECT_EQ(state["branch"], "feature/x");
  EXPECT_TRUE(state["dirty"].is_null());
}

TEST(Git, packed_branch_and_detached_head) {
  const TestRoot root;
  root.write("/w/.git/HEAD", "ref: refs/heads/main\n");
  root.write("/w/.git/packed-refs", "# pack-refs with: peeled\n" + kOther + " refs/heads/main2\n" +
                                        kHash + " refs/heads/main\n");
  EXPECT_EQ(git_state(root.path(), "/w")["commit"], kHash);
  root.write("/w/.git/HEAD", kOther + "\n");
  EXPECT_EQ(git_state(root.path(), "/w")["commit"], kOther);
  EXPECT_TRUE(git_state(root.path(), "/w")["branch"].is_null());
}

TEST(Git, worktree_reads_the_shared_branches) {
  const TestRoot root;
  root.write("/tree/.git", "gitdir: /w/.git/worktrees/tree\n");
  root.write("/w/.git/worktrees/tree/HEAD", "ref: refs/heads/side\n");
  root.write("/w/.git/worktrees/tree/commondir", "../..\n");
  root.write("/w/.git/refs/heads/side", kHash + "\n");
  EXPECT_EQ(git_state(root.path(), "/tree/a")["commit"], kHash);
}

TEST(Git, no_commit_yet_and_no_repository) {
  const TestRoot root;
  EXPECT_TRUE(git_state(root.path(), "/w").is_null());
  EXPECT_TRUE(git_state(root.path(), "").is_null());
  EXPECT_TRUE(git_state(root.path(), "relative").is_null());
  root.write("/w/.git/HEAD", "ref: refs/heads/main\n");
  EXPECT_TRUE(git_state(root.path(), "/w")["commit"].is_null());
}

TEST(Git, a_hostile_head_leads_nowhere) {
  const TestRoot root;
  root.write("/etc/secret", kHash + "\n");
  root.write("/w/.git/HEAD", "ref: refs/../../../etc/secret\n");
  EXPECT_TRUE(git_state(root.path(), "/w")["commit"].is_null());
  root.write("/w/.git/HEAD", "ref: refs/heads/x\n");
  root.write("/w/.git/refs/heads/x", "not a hash\n");
  EXPECT_TRUE(git_state(root.path(), "/w")["commit"].is_null());
}

}  // namespace inventory_git_test
}  // namespace trainscope
