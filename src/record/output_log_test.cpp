#include "record/output_log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

namespace trainscope {
namespace {

class OutputLogTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/ts-output-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    folder_ = name;
    int fds[2];
    ASSERT_EQ(::pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
    read_.reset(fds[0]);
    write_.reset(fds[1]);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string folder_;
  UniqueFd read_, write_;
};

TEST_F(OutputLogTest, KeepsWhatCameAndCountsWhatItCannotKeep) {
  std::string seen;
  const OutputLog::See see = [&](size_t /*stream*/, std::string_view bytes) { seen += bytes; };
  OutputLog log(folder_, read_.get(), {}, see);
  ASSERT_TRUE(write_all(write_.get(), "first\n"));
  EXPECT_EQ(log.collect(), 0);
  EXPECT_EQ(*read_file(folder_ + "/output.log"), "first\n");
  EXPECT_EQ(seen, "first\n");

  OutputLog nowhere(folder_ + "/none", read_.get(), {}, see);
  ASSERT_TRUE(write_all(write_.get(), "lost\n"));
  EXPECT_EQ(nowhere.collect(), 5);
  EXPECT_EQ(nowhere.collect(), 0);
}

}  // namespace
}  // namespace trainscope
