#include "limits/support/scratch.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "base/bounded_child.h"
#include "base/clock.h"
#include "limits/support/place.h"
#include "testing/temporary_folder.h"

namespace trainscope {
namespace scratch_test {

std::string only_name_in(const std::string& folder) {
  const std::vector<std::string> names = names_in(folder);
  EXPECT_EQ(names.size(), 1U);
  return names.empty() ? "" : folder + "/" + names.front();
}

TEST(Scratch, a_folder_of_files_is_removed_with_them) {
  const TemporaryFolder folder;
  {
    ScratchFolder scratch;
    ASSERT_TRUE(scratch.make(folder.path()));
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(scratch.create_file(i), 0);
      EXPECT_EQ(scratch.open_and_close(i), 0);
    }
    EXPECT_EQ(scratch.open_and_close(3), ENOENT);
    EXPECT_EQ(names_in(only_name_in(folder.path())).size(), 3U);
  }
  EXPECT_TRUE(names_in(folder.path()).empty());
}

TEST(Scratch, what_a_killed_measurement_left_is_removed_by_the_next) {
  const TemporaryFolder folder;
  ChildLimits limits;
  limits.idle_ns = limits.total_ns = 60 * kNsPerSecond;
  (void)ask_child(limits, [&]() -> std::string {
    ScratchFolder scratch;
    (void)scratch.make(folder.path());
    for (size_t i = 0; i < ScratchFolder::kMostFiles; ++i) scratch.create_file(i);
    ::_exit(0);
  });
  EXPECT_EQ(names_in(only_name_in(folder.path())).size(), ScratchFolder::kMostFiles);
  {
    ScratchFolder scratch;
    ASSERT_TRUE(scratch.make(folder.path()));
    EXPECT_EQ(scratch.create_file(0), 0);
  }
  EXPECT_TRUE(names_in(folder.path()).empty());
}

TEST(Scratch, no_exchanged_name_is_followed) {
  const TemporaryFolder folder, elsewhere;
  ScratchFolder scratch;
  ASSERT_TRUE(scratch.make(folder.path()));
  EXPECT_EQ(scratch.create_file(0), 0);
  const std::string path = only_name_in(folder.path());
  const std::string file = names_in(path).front();
  ASSERT_TRUE(replace_file(elsewhere.path() + "/" + file, "of another"));
  ASSERT_EQ(::rename(path.c_str(), (folder.path() + "/moved").c_str()), 0);
  ASSERT_EQ(::symlink(elsewhere.path().c_str(), path.c_str()), 0);
  EXPECT_EQ(scratch.create_file(1), 0);
  scratch.remove();
  EXPECT_EQ(names_in(elsewhere.path()), std::vector<std::string>{file});
  EXPECT_TRUE(names_in(folder.path() + "/moved").empty());
  ScratchFolder next;
  EXPECT_FALSE(next.make(folder.path())) << "a link is not a folder";
}

TEST(Scratch, a_file_has_no_name) {
  const TemporaryFolder folder;
  const auto file = make_scratch_file(folder.path());
  if (!file) GTEST_SKIP() << file.error().message();
  EXPECT_TRUE(names_in(folder.path()).empty());
  struct stat info {};
  ASSERT_EQ(::fstat(file->get(), &info), 0);
  EXPECT_EQ(info.st_nlink, 0U);
}

TEST(Scratch, an_error_names_the_folder_and_a_remedy) {
  const auto file = make_scratch_file("/nowhere/at all");
  ASSERT_FALSE(file);
  EXPECT_NE(file.error().message().find("/nowhere/at all"), std::string::npos);
  EXPECT_NE(file.error().message().find("--data DIR"), std::string::npos);
}

TEST(StoragePlace, names_a_disk_as_its_metrics_do) {
  EXPECT_EQ(disk_name("nvme0n1"), "nvme0n1");
  EXPECT_EQ(disk_name("cciss!c0d0"), "cciss/c0d0");
}

TEST(StoragePlace, is_found_through_links) {
  const TemporaryFolder folder;
  const std::string link = folder.path() + "/link";
  ASSERT_EQ(::symlink("/proc", link.c_str()), 0);
  const StoragePlace place = storage_place(link);
  EXPECT_EQ(place.folder, "/proc");
  EXPECT_EQ(place.mount_point, "/proc");
  EXPECT_EQ(place.file_system, "proc");
  EXPECT_EQ(place.device, "");
  EXPECT_EQ(storage_place(folder.path() + "/nowhere").mount_point, "");
}

}  // namespace scratch_test
}  // namespace trainscope
