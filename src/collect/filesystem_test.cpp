#include <gtest/gtest.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "collect/support/opened_source.h"

namespace trainscope {

namespace filesystem_collector {
extern const Collector entry;
}

namespace filesystem_test {

SourceContext at(const std::string& run_folder, const std::string& working_directory) {
  SourceContext context;
  context.run_folder = run_folder;
  context.working_directory = working_directory;
  return context;
}

TEST(Filesystem, tells_what_statfs_tells) {
  OpenedSource source(filesystem_collector::entry, "", at("/proc/../", "/"));
  ASSERT_EQ(source.opened().columns.size(), 2U);  // both on one mount
  source.sample();
  struct statfs room {};
  ASSERT_EQ(::statfs("/", &room), 0);
  const double size = static_cast<double>(room.f_blocks) * static_cast<double>(room.f_frsize);
  const auto used = source.value("system.filesystem.usage{mountpoint=/;state=used}");
  const auto free = source.value("system.filesystem.usage{mountpoint=/;state=free}");
  ASSERT_TRUE(used && free);
  EXPECT_GT(*used, 0);
  EXPECT_LE(*used + *free, size * 1.001);
}

TEST(Filesystem, follows_symbolic_links_to_the_right_mount) {
  TestRoot root("laptop");
  std::filesystem::create_directories(root.at("/home/ann/my disk/runs"));
  std::filesystem::create_directories(root.at("/training"));
  std::filesystem::create_symlink(root.at("/home/ann/my disk/runs"), root.at("/training/runs"));
  OpenedSource source(filesystem_collector::entry, root.path(), at("/training/runs", "/training"));
  source.sample();
  EXPECT_TRUE(source.value("system.filesystem.usage{mountpoint=/home/ann/my disk;state=free}"));
  EXPECT_TRUE(source.value("system.filesystem.usage{mountpoint=/;state=free}"));
}

TEST(Filesystem, tells_where_the_data_are) {
  TestRoot root("laptop");
  std::filesystem::create_directories(root.at("/home/ann/my disk/train"));
  std::filesystem::create_directories(root.at("/training"));
  SourceContext context = at("/training", "/training");
  context.data = {"/home/ann/my disk/train"};
  OpenedSource source(filesystem_collector::entry, root.path(), context);
  source.sample();
  EXPECT_TRUE(source.value("system.filesystem.usage{mountpoint=/;state=free}"));
  EXPECT_TRUE(source.value("system.filesystem.usage{mountpoint=/home/ann/my disk;state=free}"));
}

TEST(Filesystem, is_absent_for_a_folder_that_vanished) {
  TestRoot root("laptop");
  std::filesystem::create_directories(root.at("/training"));
  OpenedSource source(filesystem_collector::entry, root.path(), at("/training", ""));
  source.sample();
  EXPECT_TRUE(source.value("system.filesystem.usage{mountpoint=/;state=used}"));
  root.remove("/training");
  source.sample();
  EXPECT_FALSE(source.value("system.filesystem.usage{mountpoint=/;state=used}"));
}

TEST(Filesystem, says_why_it_is_missing) {
  OpenedSource nowhere(filesystem_collector::entry, machine_root("laptop"));
  EXPECT_EQ(nowhere.missing("system.filesystem.usage"),
            "neither a run folder nor a working directory exists here");
  OpenedSource bare(filesystem_collector::entry, "/no/such/root", at("/", "/"));
  EXPECT_EQ(bare.missing("system.filesystem.usage"),
            "/proc/self/mountinfo does not exist | sudo mount -t proc proc /proc");
}

}  // namespace filesystem_test

}  // namespace trainscope
