#include "kernel/mounts.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "testing/test_root.h"

namespace trainscope {

namespace mounts_test {

constexpr const char* kText =
    "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard\n"
    "torn line without a dash\n"
    "30 27 0:40 / /home rw shared:1 master:2 - nfs4 nas:/home rw\n"
    "31 30 0:41 /sub /home/my\\040disk rw - fuse.sshfs a@b:/ rw\n"
    "32 27 0:42 / /home rw - tmpfs tmpfs rw\n"
    "33 27 0:43 / /data\n";

TEST(Mounts, are_parsed_and_unescaped) {
  const auto mounts = parse_mountinfo(kText);
  ASSERT_EQ(mounts.size(), 4U);
  EXPECT_EQ(mounts[0].device, "254:0");
  EXPECT_EQ(mounts[1].type, "nfs4");
  EXPECT_EQ(mounts[2].point, "/home/my disk");
  EXPECT_EQ(mounts[2].root, "/sub");
  EXPECT_EQ(mounts[0].source, "/dev/vda");
  EXPECT_EQ(mounts[2].source, "a@b:/");
  EXPECT_EQ(mounts[0].options, "rw,discard");
}

TEST(Mounts, are_found_by_whole_components_the_later_first) {
  const auto mounts = parse_mountinfo(kText);
  EXPECT_EQ(mount_of(mounts, "/home/ann")->type, "tmpfs");
  EXPECT_EQ(mount_of(mounts, "/home")->type, "tmpfs");
  EXPECT_EQ(mount_of(mounts, "/homes")->type, "ext4");
  EXPECT_EQ(mount_of(mounts, "/home/my disk/x")->type, "fuse.sshfs");
  EXPECT_EQ(mount_of(mounts, "relative"), nullptr);
  EXPECT_EQ(mount_of({}, "/"), nullptr);
}

TEST(Mounts, that_may_hang_are_seen_through_links) {
  TestRoot root;
  root.write("/local/file", "");
  const auto mounts = parse_mountinfo(
      "27 1 8:2 / / rw - ext4 /dev/sda2 rw\n48 27 0:47 / /net rw - nfs4 f:/x rw\n"
      "49 27 0:48 / /local/fuse rw - fuse.sshfs a@b:/ rw\n");
  ASSERT_EQ(::symlink("/net/x", root.at("/link").c_str()), 0);
  ASSERT_EQ(::symlink("../link", root.at("/local/again").c_str()), 0);
  ASSERT_EQ(::symlink("round", root.at("/round").c_str()), 0);
  const auto hangs = [&](const char* path) {
    return leads_to_hanging_mount(mounts, root.path(), path);
  };
  EXPECT_TRUE(hangs("/net/x"));
  EXPECT_TRUE(hangs("/net"));
  EXPECT_TRUE(hangs("/link/y"));
  EXPECT_TRUE(hangs("/local/again"));
  EXPECT_TRUE(hangs("/local/../local/./fuse/z"));
  EXPECT_FALSE(hangs("/local/file"));
  EXPECT_FALSE(hangs("/nets"));
  EXPECT_FALSE(hangs("/round/x"));
  EXPECT_FALSE(hangs("/"));
}

}  // namespace mounts_test

}  // namespace trainscope
