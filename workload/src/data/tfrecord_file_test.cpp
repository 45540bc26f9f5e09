#include "data/tfrecord_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "data/tf_example.h"
#include "test_folder.h"
#include "tfrecord/tfrecord.h"

namespace trainscope::workload {
namespace {

std::vector<std::uint8_t> bytes_of(std::string_view text) { return {text.begin(), text.end()}; }

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

TEST_F(TfrecordTest, ReadsRecordsInAnyOrder) {
  const auto file =
      TfrecordFile::open(put(record("first") + record("") + record(std::string(1000, 'x'))));
  ASSERT_TRUE(file) << file.error().message();
  ASSERT_EQ(file.value()->count(), 3U);
  EXPECT_EQ(file.value()->read(2).value(), std::string(1000, 'x'));
  EXPECT_EQ(file.value()->read(0).value(), "first");
  EXPECT_TRUE(file.value()->read(1).value().empty());
}

TEST_F(TfrecordTest, CutOffOrDamagedIsAnErrorWithItsOffset) {
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

std::string field(char tag, const std::string& bytes) {
  return std::string(1, tag) + static_cast<char>(bytes.size()) + bytes;
}

TEST(TfExample, FindsBytesAndNumbersPackedOrNot) {
  const std::string name = field(0x0A, field(0x0A, "picture"));     // bytes_list
  const std::string packed = field(0x1A, field(0x0A, "\x96\x01"));  // int64_list [150]
  const std::string plain = field(0x1A, std::string("\x08\x07"));   // int64_list 7
  const std::string floats = field(0x12, field(0x0A, std::string(4, 'f')));
  const auto entry = [](const std::string& key, const std::string& value) {
    return field(0x0A, field(0x0A, key) + field(0x12, value));
  };
  const std::string message = field(
      0x0A, entry("image", name) + entry("a", packed) + entry("b", plain) + entry("f", floats));
  const std::vector<std::uint8_t> bytes = bytes_of(message);
  const Result<TfExample> example = parse_tf_example(bytes);
  ASSERT_TRUE(example);
  const auto found = example.value().bytes.at("image");
  EXPECT_EQ(std::string(found.begin(), found.end()), "picture");
  EXPECT_EQ(example.value().numbers.at("a"), 150);
  EXPECT_EQ(example.value().numbers.at("b"), 7);
  EXPECT_EQ(example.value().numbers.size(), 2U);
  for (std::size_t size = 1; size < bytes.size(); ++size) {
    (void)parse_tf_example(std::span(bytes).first(size));  // must not read beyond
  }
  EXPECT_FALSE(parse_tf_example(std::span(bytes).first(bytes.size() - 1)));
}

}  // namespace
}  // namespace trainscope::workload
