#include "kernel/folder_watch.h"

#include <gtest/gtest.h>

#include "testing/test_root.h"

namespace trainscope {

namespace folder_watch_test {

TEST(FolderWatch, sees_names_come_and_go) {
  TestRoot root;
  root.write("/sda/stat", "");
  FolderWatch watch;
  watch.open(root.path());
  EXPECT_FALSE(watch.changed());
  root.write("/sdb/stat", "");
  EXPECT_TRUE(watch.changed());
  EXPECT_FALSE(watch.changed());
  root.remove("/sda");
  EXPECT_TRUE(watch.changed());
  root.write("/sdb/stat", "other content");
  EXPECT_FALSE(watch.changed());
}

TEST(FolderWatch, sees_one_name_instead_of_another) {
  TestRoot root;
  root.write("/sda", "");
  FolderWatch watch;
  watch.open(root.path());
  root.remove("/sda");
  root.write("/sdb", "");
  EXPECT_TRUE(watch.changed());
}

TEST(FolderWatch, reads_a_folder_larger_than_its_buffer) {
  TestRoot root;
  for (int i = 0; i < 500; ++i) root.write("/device-" + std::to_string(i), "");
  FolderWatch watch;
  watch.open(root.path());
  EXPECT_FALSE(watch.changed());
  root.remove("/device-499");
  EXPECT_TRUE(watch.changed());
}

TEST(FolderWatch, never_changes_where_there_is_no_folder) {
  FolderWatch watch;
  EXPECT_FALSE(watch.changed());
  watch.open("/no/such/folder");
  EXPECT_FALSE(watch.changed());
}

}  // namespace folder_watch_test

}  // namespace trainscope
