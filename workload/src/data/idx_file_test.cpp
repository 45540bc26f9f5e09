#include "data/idx_file.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <fstream>
#include <string>

#include "errors.h"
#include "test_folder.h"

namespace trainscope::workload {
namespace {

using Bytes = std::string;

// A file of 2 images of 2x3 bytes, 1 to 12.
Bytes two_images() {
  Bytes bytes{"\0\0\x08\x03\0\0\0\x02\0\0\0\x02\0\0\0\x03", 16};
  for (char i = 1; i <= 12; ++i) bytes += i;
  return bytes;
}

class IdxFile : public ::testing::Test {
 protected:
  std::filesystem::path plain(const Bytes& bytes) {
    const std::filesystem::path file = folder_.path() / "images-idx3-ubyte";
    std::ofstream(file, std::ios::binary) << bytes;
    return file;
  }

  std::filesystem::path packed(const Bytes& bytes) {
    const std::filesystem::path file = folder_.path() / "images-idx3-ubyte.gz";
    gzFile out = gzopen(file.c_str(), "wb");
    gzwrite(out, bytes.data(), static_cast<unsigned>(bytes.size()));
    gzclose(out);
    return file;
  }

  static Bytes content(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return Bytes(std::istreambuf_iterator<char>(in), {});
  }

  // The error must name the file and where in it.
  static void expect_fault(const std::filesystem::path& file, const std::string& where,
                           const std::string& what) {
    const Result<IdxArray> array = read_idx(file, 3);
    ASSERT_FALSE(array);
    EXPECT_FALSE(is_run_failure(array.error()));
    EXPECT_NE(array.error().message().find(file.string()), std::string::npos)
        << array.error().message();
    EXPECT_NE(array.error().message().find(where), std::string::npos) << array.error().message();
    EXPECT_NE(array.error().message().find(what), std::string::npos) << array.error().message();
  }

 private:
  TestFolder folder_;
};

TEST_F(IdxFile, reads_plain_and_gzip) {
  for (const auto& file : {plain(two_images()), packed(two_images())}) {
    const Result<IdxArray> array = read_idx(file, 3);
    ASSERT_TRUE(array) << array.error().message();
    EXPECT_EQ(array.value().dimensions, (std::vector<std::uint32_t>{2, 2, 3}));
    ASSERT_EQ(array.value().bytes.size(), 12U);
    EXPECT_EQ(array.value().bytes.front(), 1);
    EXPECT_EQ(array.value().bytes.back(), 12);
  }
}

TEST_F(IdxFile, reads_more_than_one_chunk) {
  Bytes bytes{"\0\0\x08\x03\0\0\0\x03\0\0\x04\0\0\0\x04\0", 16};
  bytes.resize(16 + 3 * 1024 * 1024, 'x');
  bytes.back() = 'y';
  const Result<IdxArray> array = read_idx(packed(bytes), 3);
  ASSERT_TRUE(array) << array.error().message();
  EXPECT_EQ(array.value().bytes.size(), std::size_t{3} * 1024 * 1024);
  EXPECT_EQ(array.value().bytes.back(), 'y');
}

TEST_F(IdxFile, every_truncation_of_a_plain_file_is_a_fault) {
  const Bytes whole = two_images();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    expect_fault(plain(whole.substr(0, length)), "offset " + std::to_string(length), "too early");
  }
}

TEST_F(IdxFile, every_truncation_of_a_gzip_file_is_a_fault) {
  const Bytes whole = content(packed(two_images()));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(read_idx(plain(whole.substr(0, length)), 3)) << length;
  }
}

TEST_F(IdxFile, damaged_gzip_is_a_fault) {
  Bytes bytes = content(packed(two_images()));
  bytes[bytes.size() - 6] ^= 0x55;  // in the checksum
  expect_fault(plain(bytes), "offset ", "gzip data: incorrect data check");
}

TEST_F(IdxFile, damage_deep_in_a_gzip_file_is_located) {
  Bytes bytes{"\0\0\x08\x03\0\0\0\x03\0\0\x04\0\0\0\x04\0", 16};
  bytes.resize(16 + 3 * 1024 * 1024);
  std::uint32_t state = 1;  // noise, so that packing does not shrink it
  for (std::size_t i = 16; i < bytes.size(); ++i) {
    state = state * 1664525U + 1013904223U;
    bytes[i] = static_cast<char>(state >> 24);
  }
  Bytes damaged = content(packed(bytes));
  damaged.resize(damaged.size() * 5 / 6);
  const Result<IdxArray> array = read_idx(plain(damaged), 3);
  ASSERT_FALSE(array);
  const std::string& message = array.error().message();
  const std::size_t at = message.find("offset ");
  ASSERT_NE(at, std::string::npos) << message;
  EXPECT_GT(std::stoul(message.substr(at + 7)), 2000000U) << message;
  EXPECT_NE(message.find("end too early"), std::string::npos) << message;
}

TEST_F(IdxFile, wrong_magic_is_a_fault) {
  Bytes text = two_images();
  text[1] = 'P';
  expect_fault(plain(text), "offset 0", "not an IDX file");
  Bytes floats = two_images();
  floats[2] = 0x0D;
  expect_fault(plain(floats), "offset 2", "element type 13");
  Bytes labels = two_images();
  labels[3] = 1;
  expect_fault(plain(labels), "offset 3", "1 dimensions, expected 3");
}

TEST_F(IdxFile, dimensions_must_be_sensible) {
  Bytes empty = two_images();
  empty[7] = 0;
  expect_fault(plain(empty), "offset 4", "dimension of 0");
  Bytes huge = two_images();
  huge.replace(8, 8, 8, '\xFF');
  expect_fault(plain(huge), "offset 8", "larger than 1 GiB");
}

TEST_F(IdxFile, bytes_too_many_are_a_fault) {
  expect_fault(plain(two_images() + "x"), "offset 28", "more bytes");
}

TEST_F(IdxFile, missing_file_and_folder_are_faults) {
  expect_fault("no/such/file", "cannot open", "No such file");
  expect_fault(std::filesystem::temp_directory_path(), "offset 0", "directory");
}

}  // namespace
}  // namespace trainscope::workload
