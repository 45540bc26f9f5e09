#include "progress_pipe.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <fstream>

#include "test_folder.h"

namespace trainscope::workload {
namespace {

class ProgressPipeTest : public ::testing::Test {
 protected:
  ProgressPipeTest() : path_((folder_.path() / "progress").string()) {
    mkfifo(path_.c_str(), 0600);
    reader_ = open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  }
  ~ProgressPipeTest() override { close_reader(); }

  void close_reader() {
    if (reader_ >= 0) close(reader_);
    reader_ = -1;
  }

  std::string received() const {
    std::array<char, 4096> buffer{};
    const ssize_t got = read(reader_, buffer.data(), buffer.size());
    return got > 0 ? std::string(buffer.data(), static_cast<std::size_t>(got)) : "";
  }

  TestFolder folder_;
  std::string path_;
  int reader_ = -1;
};

TEST_F(ProgressPipeTest, SendsOneLineAMessage) {
  ProgressPipe pipe(path_.c_str());
  pipe.step(12, 0.4375, 100.25);
  EXPECT_EQ(received(), "step 12 loss=0.4375 time=100.250000\n");
  pipe.phase("begin", "evaluation", 101.5);
  EXPECT_EQ(received(), "phase begin evaluation time=101.500000\n");
  pipe.scalar("accuracy", 0.89, 938, "test");
  EXPECT_EQ(received(), "scalar accuracy 0.89 step=938 set=test\n");
  EXPECT_EQ(pipe.dropped(), 0U);
}

TEST_F(ProgressPipeTest, FullPipeDropsAndCountsInsteadOfBlocking) {
  ProgressPipe pipe(path_.c_str());
  constexpr std::uint64_t kMessages = 20000;
  for (std::uint64_t i = 1; i <= kMessages; ++i) pipe.step(i, 0.5, 1.0);
  EXPECT_GT(pipe.dropped(), 0U);
  EXPECT_LT(pipe.dropped(), kMessages);
  while (!received().empty()) {
  }
  const std::uint64_t dropped = pipe.dropped();
  pipe.step(1, 0.5, 1.0);
  EXPECT_EQ(pipe.dropped(), dropped);
}

TEST_F(ProgressPipeTest, VanishedReaderNeitherKillsNorBlocks) {
  std::signal(SIGPIPE, SIG_DFL);  // whoever started the test may have had it ignored
  ProgressPipe pipe(path_.c_str());
  close_reader();
  pipe.step(1, 0.5, 1.0);
  EXPECT_EQ(pipe.dropped(), 1U);
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  EXPECT_EQ(sigismember(&mask, SIGPIPE), 0);
}

TEST_F(ProgressPipeTest, WithoutReaderFifoOrNameItStaysClosed) {
  close_reader();
  EXPECT_FALSE(ProgressPipe(path_.c_str()).is_open());
  EXPECT_FALSE(ProgressPipe(nullptr).is_open());
  EXPECT_FALSE(ProgressPipe("").is_open());
  EXPECT_FALSE(ProgressPipe("/no/such/fifo").is_open());
}

TEST_F(ProgressPipeTest, RegularFileIsLeftAlone) {
  const std::string file = (folder_.path() / "file").string();
  std::ofstream(file) << "precious";
  ProgressPipe pipe(file.c_str());
  pipe.step(1, 0.5, 1.0);
  EXPECT_FALSE(pipe.is_open());
  EXPECT_EQ(std::filesystem::file_size(file), 8U);
}

}  // namespace
}  // namespace trainscope::workload
