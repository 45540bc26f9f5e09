#include "data/dataset.h"

#include <gtest/gtest.h>

#include <fstream>

#include "errors.h"
#include "test_folder.h"

namespace trainscope::workload {
namespace {

void put(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

std::string images(char count, char side) {
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
    put(file("train-images-idx3-ubyte"), images(3, 4));
    put(file("train-labels-idx1-ubyte"), labels({0, 2, 1}));
    put(file("t10k-images.idx3-ubyte"), images(2, 4));
    put(file("t10k-labels.idx1-ubyte"), labels({2, 0}));
  }

  std::filesystem::path file(const std::string& name) { return folder_.path() / name; }

  void expect_fault(const std::string& what) {
    const Result<Dataset> data = load_dataset({.choice = folder_.path().string()});
    ASSERT_FALSE(data);
    EXPECT_FALSE(is_run_failure(data.error()));
    EXPECT_NE(data.error().message().find(what), std::string::npos) << data.error().message();
  }

  TestFolder folder_;
};

TEST_F(DatasetFolder, loads_four_files_under_either_spelling) {
  const Result<Dataset> data = load_dataset({.choice = folder_.path().string()});
  ASSERT_TRUE(data) << data.error().message();
  EXPECT_EQ(data.value().name, "directory");
  EXPECT_EQ(data.value().classes, 3U);
  EXPECT_EQ(data.value().train->count(), 3U);
  EXPECT_EQ(data.value().test->count(), 2U);
  EXPECT_EQ(data.value().test->shape(), (ImageShape{1, 4, 4}));
  std::vector<std::uint8_t> pixels(16);
  StageTimes times;
  const Result<std::uint32_t> label = data.value().train->read(1, pixels, times);
  ASSERT_TRUE(label);
  EXPECT_EQ(label.value(), 2U);
  EXPECT_EQ(pixels, std::vector<std::uint8_t>(16, 'p'));
}

TEST_F(DatasetFolder, missing_file_is_named) {
  std::filesystem::remove(file("train-labels-idx1-ubyte"));
  expect_fault("no train-labels-idx1-ubyte");
}

TEST_F(DatasetFolder, counts_must_agree) {
  put(file("train-labels-idx1-ubyte"), labels({0, 2}));
  expect_fault("3 train images, but 2 labels");
}

TEST_F(DatasetFolder, sizes_must_agree) {
  put(file("t10k-images.idx3-ubyte"), images(2, 5));
  expect_fault("differ in size");
}

TEST_F(DatasetFolder, unknown_test_label_is_a_fault) {
  put(file("t10k-labels.idx1-ubyte"), labels({3, 0}));
  expect_fault("a label that no train image has");
}

TEST(Dataset, drawn_images_need_no_files_and_are_held_out_for_real) {
  const Result<Dataset> data = load_dataset({.choice = "drawn", .seed = 5});
  ASSERT_TRUE(data);
  EXPECT_EQ(data.value().classes, 10U);
  EXPECT_GE(data.value().train->count(), 10000U);
  EXPECT_GE(data.value().test->count(), 1000U);
  std::vector<std::uint8_t> train(784);
  std::vector<std::uint8_t> test(784);
  StageTimes times;
  ASSERT_TRUE(data.value().train->read(0, train, times));
  ASSERT_TRUE(data.value().test->read(0, test, times));
  EXPECT_NE(train, test);
}

TEST(Dataset, synthetic_images_have_the_shape_asked_for) {
  const Result<Dataset> data =
      load_dataset({.choice = "synthetic", .seed = 2, .channels = 3, .side = 20, .classes = 7});
  ASSERT_TRUE(data);
  EXPECT_EQ(data.value().train->shape(), (ImageShape{3, 20, 20}));
  std::vector<std::uint8_t> first(1200);
  std::vector<std::uint8_t> second(1200);
  StageTimes times;
  for (std::size_t i = 0; i < 100; ++i) {
    const Result<std::uint32_t> label = data.value().train->read(i, first, times);
    ASSERT_TRUE(label);
    EXPECT_LT(label.value(), 7U);
    EXPECT_EQ(data.value().train->read(i, second, times).value(), label.value());
    EXPECT_EQ(first, second);
  }
}

TEST(Dataset, folder_without_images_says_what_was_looked_for) {
  const TestFolder folder;
  const Result<Dataset> data = load_dataset({.choice = folder.path().string()});
  ASSERT_FALSE(data);
  EXPECT_NE(data.error().message().find("TFRecord"), std::string::npos) << data.error().message();
  EXPECT_FALSE(load_dataset({.choice = "/no/such/folder"}));
}

TEST(Dataset, cifar_records_are_a_label_and_three_planes) {
  const TestFolder folder;
  const auto record = [](char label, char first) {
    std::string bytes(3073, 'x');
    bytes[0] = label;
    bytes[1] = first;
    return bytes;
  };
  put(folder.path() / "data_batch_1.bin", record(3, 'a') + record(9, 'b'));
  put(folder.path() / "data_batch_2.bin", record(0, 'c'));
  put(folder.path() / "test_batch.bin", record(7, 'd'));
  const Result<Dataset> data = load_dataset({.choice = folder.path().string()});
  ASSERT_TRUE(data) << data.error().message();
  EXPECT_EQ(data.value().name, "cifar10");
  EXPECT_EQ(data.value().train->count(), 3U);
  EXPECT_EQ(data.value().test->count(), 1U);
  std::vector<std::uint8_t> pixels(3072);
  StageTimes times;
  EXPECT_EQ(data.value().train->read(2, pixels, times).value(), 0U);
  EXPECT_EQ(pixels[0], 'c');
  put(folder.path() / "test_batch.bin", record(10, 'd'));
  EXPECT_FALSE(load_dataset({.choice = folder.path().string()}));
  put(folder.path() / "test_batch.bin", record(1, 'd') + "x");
  const Result<Dataset> odd = load_dataset({.choice = folder.path().string()});
  ASSERT_FALSE(odd);
  EXPECT_NE(odd.error().message().find("test_batch.bin"), std::string::npos);
}

}  // namespace
}  // namespace trainscope::workload
