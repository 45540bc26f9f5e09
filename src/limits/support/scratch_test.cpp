#include "limits/support/scratch.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "limits/support/place.h"
#include "testing/temporary_folder.h"

namespace trainscope {
namespace {

TEST(Scratch, a_folder_of_files_is_removed_with_them) {
  const TemporaryFolder folder;
  {
    const auto scratch = ScratchFolder::make(folder.path(), 3);
    ASSERT_TRUE(scratch) << scratch.error().message();
    ASSERT_EQ(scratch->files().size(), 3U);
    for (const std::string& file : scratch->files()) EXPECT_TRUE(exists(file));
    EXPECT_EQ(names_in(folder.path()).size(), 1U);
  }
  EXPECT_TRUE(names_in(folder.path()).empty());
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

}  // namespace
}  // namespace trainscope
