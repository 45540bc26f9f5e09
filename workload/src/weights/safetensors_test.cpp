#include "weights/safetensors.h"

#include <gtest/gtest.h>

#include <fstream>

#include "errors.h"
#include "test_folder.h"

namespace trainscope::workload {
namespace {

class SafetensorsTest : public ::testing::Test {
 protected:
  std::filesystem::path file() const { return folder_.path() / "w.safetensors"; }

  void put(const std::string& header, const std::string& data) const {
    std::string bytes(8, '\0');
    bytes[0] = static_cast<char>(header.size());
    bytes[1] = static_cast<char>(header.size() >> 8);
    std::ofstream(file(), std::ios::binary) << bytes + header + data;
  }

  void expect_fault(const std::string& what) const {
    const Result<TensorFile> read = read_safetensors(file());
    ASSERT_FALSE(read) << what;
    EXPECT_FALSE(is_run_failure(read.error()));
    EXPECT_NE(read.error().message().find(file().string()), std::string::npos);
    EXPECT_NE(read.error().message().find(what), std::string::npos) << read.error().message();
  }

  TestFolder folder_;
};

TEST_F(SafetensorsTest, what_is_written_is_read_back) {
  const std::vector<std::uint8_t> floats{0, 0, 128, 63, 0, 0, 0, 64};
  const std::vector<std::uint8_t> bytes{1, 2, 3};
  TensorFile content;
  content.metadata = {{"model", "m"}, {"labels", "a\nb \"c\"\n"}};
  content.tensors = {{"z.weight", "F32", {2, 1}, floats},
                     {"a", "U8", {3}, bytes},
                     {"empty", "F32", {0}, {}},
                     {"scalar", "U8", {}, std::span(bytes).first(1)}};
  ASSERT_TRUE(write_safetensors(file(), content));
  const Result<TensorFile> read = read_safetensors(file());
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read.value().metadata, content.metadata);
  ASSERT_EQ(read.value().tensors.size(), 4U);
  for (const TensorView& tensor : content.tensors) {
    const TensorView* found = read.value().find(tensor.name);
    ASSERT_NE(found, nullptr) << tensor.name;
    EXPECT_EQ(found->type, tensor.type);
    EXPECT_EQ(found->shape, tensor.shape);
    EXPECT_TRUE(std::equal(found->bytes.begin(), found->bytes.end(), tensor.bytes.begin(),
                           tensor.bytes.end()));
  }
  EXPECT_EQ(read.value().find("none"), nullptr);
}

TEST_F(SafetensorsTest, what_does_not_fit_is_a_fault) {
  put(R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}})", "ab");
  expect_fault("tensor a");
  put(R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}})", "abcd");
  expect_fault("bytes outside all tensors");
  put(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})", "abc");
  expect_fault("tensor a");
  put(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
      R"("b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
      "abc");
  expect_fault("tensor b");
  put(R"({"a":{"dtype":"Q3","shape":[2],"data_offsets":[0,2]}})", "ab");
  expect_fault("unknown type Q3");
  put(R"({"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,0]}})", "");
  expect_fault("bad shape");
  put(R"({"a":{"dtype":"F64","shape":[4611686018427387904,4],"data_offsets":[0,0]}})", "");
  expect_fault("bad shape");
  put(R"({"a":{"dtype":"U8"}})", "");
  expect_fault("bad header");
  put("[1]", "");
  expect_fault("not a JSON object");
  put("{", "");
  expect_fault("bad header");
}

TEST_F(SafetensorsTest, cut_off_files_are_faults) {
  std::ofstream(file(), std::ios::binary) << "abc";
  expect_fault("cut off");
  std::ofstream(file(), std::ios::binary) << std::string(8, '\xff');
  expect_fault("cut off");
  std::filesystem::remove(file());
  expect_fault("cannot open");
}

TEST_F(SafetensorsTest, folder_that_is_not_there_is_named) {
  const Status written = write_safetensors(folder_.path() / "no" / "w", {});
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message().find("no/w"), std::string::npos);
}

}  // namespace
}  // namespace trainscope::workload
