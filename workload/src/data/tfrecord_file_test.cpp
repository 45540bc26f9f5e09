#include "data/tfrecord_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "parse/parse.h"
#include "test_folder.h"

namespace trainscope::workload {
namespace {

std::string record(std::string_view data) {
  std::string out;
  append_tf_record(out, data);
  return out;
}

class TfrecordTest : public ::testing::Test {
 protected:
  std::filesystem::path put(const std::string& bytes) const {
    const std::filesystem::path file = folder_.path() / "train-00000-of-00001";
    std::ofstream(file, std::ios::binary) << bytes;
    return file;
  }

  TestFolder folder_;
};

TEST_F(TfrecordTest, reads_records_in_any_order) {
  const auto file =
      TfrecordFile::open(put(record("first") + record("") + record(std::string(1000, 'x'))));
  ASSERT_TRUE(file) << file.error().message();
  ASSERT_EQ(file.value()->count(), 3U);
  EXPECT_EQ(file.value()->read(2).value(), std::string(1000, 'x'));
  EXPECT_EQ(file.value()->read(0).value(), "first");
  EXPECT_TRUE(file.value()->read(1).value().empty());
}

TEST_F(TfrecordTest, cut_off_or_damaged_is_an_error_with_its_offset) {
  const std::string good = record("first") + record("second");
  const auto cut = TfrecordFile::open(put(good.substr(0, good.size() - 1)));
  ASSERT_FALSE(cut);
  EXPECT_NE(cut.error().message().find("offset 21"), std::string::npos) << cut.error().message();
  std::string wrong_length = good;
  wrong_length[0] ^= 1;
  EXPECT_FALSE(TfrecordFile::open(put(wrong_length)));
  std::string wrong_data = good;
  wrong_data[13] ^= 1;
  const auto opened = TfrecordFile::open(put(wrong_data));
  ASSERT_TRUE(opened);
  EXPECT_FALSE(opened.value()->read(0));
  EXPECT_TRUE(opened.value()->read(1));
}

}  // namespace
}  // namespace trainscope::workload
