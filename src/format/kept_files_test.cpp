#include "format/kept_files.h"

#include <gtest/gtest.h>

namespace trainscope {
namespace format_kept_files_test {

TEST(kept_files, an_index_is_read_back) {
  KeptFiles kept;
  kept.files = {{"out/a.png", 12, 1'700'000'000'000'000'000}, {"../\"</script>\n", 0, 0}};
  kept.left_out = {{"big.bin", "it is larger than 64 MiB"}};
  kept.left_out_count = 300;
  const auto read = kept_files_from_json(kept_files_to_json(kept));
  ASSERT_TRUE(read);
  ASSERT_EQ(read->files.size(), 2U);
  EXPECT_EQ(read->files[0].path, "out/a.png");
  EXPECT_EQ(read->files[0].bytes, 12);
  EXPECT_EQ(read->files[0].modified_ns, 1'700'000'000'000'000'000);
  EXPECT_EQ(read->files[1].path, "../\"</script>\n");
  EXPECT_EQ(read->left_out[0].reason, "it is larger than 64 MiB");
  EXPECT_EQ(read->left_out_count, 300);
}

TEST(kept_files, a_path_that_is_not_utf8_is_still_an_index) {
  KeptFiles kept;
  kept.files = {{"out/\xff.png", 1, 0}};
  const auto read = kept_files_from_json(kept_files_to_json(kept));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->files[0].path, "out/\xef\xbf\xbd.png");
}

TEST(kept_files, a_damaged_index_is_an_error_or_has_harmless_values) {
  EXPECT_FALSE(kept_files_from_json(""));
  EXPECT_FALSE(kept_files_from_json("[]"));
  EXPECT_FALSE(kept_files_from_json(R"({"schema":"trainscope.kept/2"})"));
  const auto odd = kept_files_from_json(
      R"({"schema":"trainscope.kept/1","files":[{"path":7,"bytes":-3},null],"left_out":5})");
  ASSERT_TRUE(odd);
  ASSERT_EQ(odd->files.size(), 2U);
  EXPECT_EQ(odd->files[0].path, "");
  EXPECT_EQ(odd->files[0].bytes, 0);
}

TEST(kept_files, an_index_has_no_more_files_than_a_run_keeps) {
  KeptFiles kept;
  kept.files.resize(kMaxKeptFiles + 10);
  EXPECT_EQ(kept_files_from_json(kept_files_to_json(kept))->files.size(), kMaxKeptFiles);
}

TEST(kept_files, copies_have_names_of_ours) {
  EXPECT_EQ(kept_file_name(0), "0001");
  EXPECT_EQ(kept_file_name(255), "0256");
}

}  // namespace format_kept_files_test
}  // namespace trainscope
