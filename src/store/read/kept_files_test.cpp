#include "store/read/kept_files.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "format/format.h"
#include "store/store.h"
#include "testing/temporary_folder.h"

namespace trainscope {
namespace store_kept_files_test {

using namespace std::string_view_literals;

void write_kept(const std::string& run, const KeptFiles& index, const std::string& bytes) {
  std::filesystem::create_directories(run + "/kept");
  ASSERT_TRUE(replace_file(run + "/kept/index.json", kept_files_to_json(index)));
  for (size_t i = 0; i < index.files.size(); ++i) {
    ASSERT_TRUE(replace_file(run + "/kept/" + kept_file_name(i), bytes));
  }
}

TEST(stored_files, types_come_from_the_first_bytes) {
  EXPECT_EQ(file_type("\x89PNG\r\n\x1a\n\0"sv), "image/png");
  EXPECT_EQ(file_type("\xff\xd8\xff\xe0"), "image/jpeg");
  EXPECT_EQ(file_type("GIF89a"), "image/gif");
  EXPECT_EQ(file_type("RIFF\0\0\0\0WEBPVP8 "sv), "image/webp");
  EXPECT_EQ(file_type("RIFF\0\0\0\0WAVE"sv), "application/octet-stream");
  EXPECT_EQ(file_type("<html><script>"), "text/plain");
  EXPECT_EQ(file_type("a\0b"sv), "application/octet-stream");
  EXPECT_EQ(file_type(""), "text/plain");
}

TEST(stored_files, of_a_run) {
  const TemporaryFolder run;
  KeptFiles index;
  index.files = {{"out/a.png", 8, 3'500'000'000}};
  index.left_out_count = 2;
  write_kept(run.path(), index, "\x89PNG\r\n\x1a\n");
  const StoredFiles stored = stored_files(run.path(), 1'000'000'000);
  ASSERT_EQ(stored.files.size(), 1U);
  EXPECT_EQ(stored.files[0].path, "out/a.png");
  EXPECT_EQ(stored.files[0].type, "image/png");
  EXPECT_EQ(stored.files[0].time_s, 2.5);
  EXPECT_EQ(stored.left_out, 2);
  EXPECT_TRUE(open_stored_file(run.path(), 0));
  EXPECT_FALSE(open_stored_file(run.path(), 1));
}

TEST(stored_files, none) {
  const TemporaryFolder run;
  EXPECT_TRUE(stored_files(run.path(), 0).files.empty());
  std::filesystem::create_directories(run.path() + "/kept");
  ASSERT_TRUE(replace_file(run.path() + "/kept/index.json", "nonsense"));
  EXPECT_TRUE(stored_files(run.path(), 0).files.empty());
}

TEST(stored_files, no_link_is_opened) {
  const TemporaryFolder run;
  std::filesystem::create_directories(run.path() + "/kept");
  std::filesystem::create_symlink("/etc/hostname", run.path() + "/kept/0001");
  EXPECT_FALSE(open_stored_file(run.path(), 0));
}

TEST(stored_files, are_removed_with_the_run) {
  const TemporaryFolder home;
  const std::string run = home.path() + "/run";
  std::filesystem::create_directories(run);
  ASSERT_TRUE(replace_file(run + "/manifest.json", "{}"));
  const auto without = run_disk_bytes(run);
  KeptFiles index;
  index.files.resize(3);
  write_kept(run, index, std::string(10'000, 'x'));
  ASSERT_TRUE(without);
  EXPECT_GE(*run_disk_bytes(run), *without + 3 * 10'000);
  const auto removed = remove_run(run);
  ASSERT_TRUE(removed) << removed.error().message();
  EXPECT_TRUE(removed->foreign.empty());
  EXPECT_GE(removed->bytes, 30'000);
  EXPECT_FALSE(std::filesystem::exists(run));
}

}  // namespace store_kept_files_test
}  // namespace trainscope
