#include "dataset.h"

#include <gtest/gtest.h>

#include <fstream>

#include "test_folder.h"

namespace trainscope::workload {
namespace {

void put(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

std::string pictures(char count, char side) {
  const std::string header{"\0\0\x08\x03\0\0\0", 7};
  const std::string zeros(3, '\0');
  const auto area = static_cast<std::size_t>(count * side * side);
  return header + count + zeros + side + zeros + side + std::string(area, 'p');
}

std::string labels(const std::string& values) {
  return std::string{"\0\0\x08\x01\0\0\0", 7} + static_cast<char>(values.size()) + values;
}

class DatasetFolder : public ::testing::Test {
 protected:
  DatasetFolder() {
    put(file("train-images-idx3-ubyte"), pictures(3, 4));
    put(file("train-labels-idx1-ubyte"), labels({0, 2, 1}));
    put(file("t10k-images.idx3-ubyte"), pictures(2, 4));
    put(file("t10k-labels.idx1-ubyte"), labels({2, 0}));
  }

  std::filesystem::path file(const std::string& name) { return folder_.path() / name; }

  void expect_fault(const std::string& what) {
    const Result<Dataset> data = load_dataset(folder_.path().string(), 1);
    ASSERT_FALSE(data.ok());
    EXPECT_EQ(data.error().fault, Fault::kBadInput);
    EXPECT_NE(data.error().message.find(what), std::string::npos) << data.error().message;
  }

  TestFolder folder_;
};

TEST_F(DatasetFolder, LoadsFourFilesUnderEitherSpelling) {
  const Result<Dataset> data = load_dataset(folder_.path().string(), 1);
  ASSERT_TRUE(data.ok()) << data.error().message;
  EXPECT_EQ(data.value().name, "directory");
  EXPECT_EQ(data.value().classes, 3U);
  EXPECT_EQ(data.value().train.count(), 3U);
  EXPECT_EQ(data.value().test.count(), 2U);
  EXPECT_EQ(data.value().test.rows, 4U);
  EXPECT_EQ(data.value().train.pixels.size(), 48U);
}

TEST_F(DatasetFolder, MissingFileIsNamed) {
  std::filesystem::remove(file("train-labels-idx1-ubyte"));
  expect_fault("no train-labels-idx1-ubyte");
}

TEST_F(DatasetFolder, CountsMustAgree) {
  put(file("train-labels-idx1-ubyte"), labels({0, 2}));
  expect_fault("3 train pictures, but 2 labels");
}

TEST_F(DatasetFolder, SizesMustAgree) {
  put(file("t10k-images.idx3-ubyte"), pictures(2, 5));
  expect_fault("differ in size");
}

TEST_F(DatasetFolder, UnknownTestLabelIsAFault) {
  put(file("t10k-labels.idx1-ubyte"), labels({3, 0}));
  expect_fault("a label that no train picture has");
}

TEST(Dataset, DrawnPicturesNeedNoFilesAndAreHeldOutForReal) {
  const Result<Dataset> data = load_dataset("drawn", 5);
  ASSERT_TRUE(data.ok());
  EXPECT_EQ(data.value().classes, 10U);
  EXPECT_GE(data.value().train.count(), 10000U);
  EXPECT_GE(data.value().test.count(), 1000U);
  const auto& train = data.value().train.pixels;
  const auto& test = data.value().test.pixels;
  EXPECT_FALSE(std::equal(test.begin(), test.begin() + 784, train.begin()));
}

}  // namespace
}  // namespace trainscope::workload
