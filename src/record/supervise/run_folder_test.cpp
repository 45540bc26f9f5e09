#include "record/supervise/run_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "testing/temporary_folder.h"

namespace trainscope {
namespace {

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

}  // namespace
}  // namespace trainscope
