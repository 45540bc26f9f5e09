#include "record/supervise/run_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "format/format.h"
#include "testing/temporary_folder.h"

namespace trainscope {
namespace run_folder_test {

TEST(RunFolder, has_a_manifest_and_a_fifo_for_progress) {
  const TemporaryFolder home;
  Manifest manifest;
  const auto folder = make_run_folder(home.path(), manifest);
  ASSERT_TRUE(folder) << folder.error().message();
  EXPECT_EQ(folder->run.path, home.path() + "/" + folder->run.id);
  EXPECT_EQ(manifest.id, folder->run.id);
  EXPECT_TRUE(folder->progress_pipe);
  struct stat info {};
  ASSERT_EQ(::stat(progress_path(folder->run).c_str(), &info), 0);
  EXPECT_TRUE(S_ISFIFO(info.st_mode));
}

TEST(RunFolder, keeps_a_copy_of_the_limits_of_its_host) {
  const TemporaryFolder home;
  MachineLimits limits;
  limits.host = "node1";
  limits.limits = {{"disk.open", 9000, "{file}/s", "", "2026-01-01T00:00:00.000Z", "/", "sda"}};
  ASSERT_TRUE(write_host_limits(home.path(), limits));
  Manifest manifest;
  manifest.host_name = "node1";
  const auto folder = make_run_folder(home.path(), manifest);
  ASSERT_TRUE(folder) << folder.error().message();
  ASSERT_TRUE(manifest.limits);
  EXPECT_EQ(manifest.limits->limits.at(0).value, 9000);
  const auto stored = read_manifest(folder->run.path);
  ASSERT_TRUE(stored);
  EXPECT_TRUE(stored->limits);
  Manifest elsewhere;
  elsewhere.host_name = "node2";
  ASSERT_TRUE(make_run_folder(home.path(), elsewhere));
  EXPECT_FALSE(elsewhere.limits);
  limits.machine = "another of this name, 7 CPUs";
  ASSERT_TRUE(write_host_limits(home.path(), limits));
  Manifest other_machine;
  other_machine.host_name = "node1";
  ASSERT_TRUE(make_run_folder(home.path(), other_machine));
  EXPECT_FALSE(other_machine.limits);
}

TEST(RunFolder, damaged_limits_are_a_note_and_do_not_prevent_the_run) {
  const TemporaryFolder home;
  MachineLimits limits;
  limits.host = "node1";
  ASSERT_TRUE(write_host_limits(home.path(), limits));
  ASSERT_TRUE(replace_file(host_limits_path(home.path(), "node1"), "{"));
  Manifest manifest;
  manifest.host_name = "node1";
  ASSERT_TRUE(make_run_folder(home.path(), manifest));
  EXPECT_FALSE(manifest.limits);
  ASSERT_EQ(manifest.notes.size(), 1U);
  EXPECT_NE(manifest.notes[0].find("limits/node1.json"), std::string::npos);
}

}  // namespace run_folder_test
}  // namespace trainscope
