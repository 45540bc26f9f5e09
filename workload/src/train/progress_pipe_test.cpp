#include "train/progress_pipe.h"

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
  EXPECT_EQ(received(), "step 12 loss=0.4375 t=100250000000\n");
  pipe.epoch(2, 0.5, 100.5);
  EXPECT_EQ(received(), "epoch 2 loss=0.5 t=100500000000\n");
  pipe.begin("evaluation", 101.5);
  pipe.end("evaluation", 102.0);
  EXPECT_EQ(received(), "begin evaluation t=101500000000\nend evaluation t=102000000000\n");
  pipe.phase("input", 0.0125, 103.0);
  pipe.phase("decode", 0.25, 104.0, "loader1");
  EXPECT_EQ(received(),
            "phase input 0.012500000 t=103000000000\n"
            "phase decode 0.250000000 who=loader1 t=104000000000\n");
  pipe.batch(64);
  pipe.scalar("accuracy", 0.89, "test", 105.0);
  EXPECT_EQ(received(), "batch 64\nscalar accuracy 0.89 set=test t=105000000000\n");
  EXPECT_EQ(pipe.dropped(), 0U);
}

TEST_F(ProgressPipeTest, FullPipeDropsAndCountsInsteadOfBlocking) {
  ProgressPipe pipe(path_.c_str());
  constexpr std::uint64_t kMessages = 20000;
  for (std::uint64_t i = 1; i <= kMessages; ++i) pipe.step(i, 0.5, 1.0);
  const std::uint64_t dropped = pipe.dropped();
  EXPECT_GT(dropped, 0U);
  EXPECT_LT(dropped, kMessages);
  while (!received().empty()) {
  }
  pipe.step(7, 0.5, 1.0);
  pipe.step(8, 0.5, 1.0);
  EXPECT_EQ(pipe.dropped(), dropped);
  EXPECT_EQ(received(), "dropped " + std::to_string(dropped) +
                            "\nstep 7 loss=0.5 t=1000000000\nstep 8 loss=0.5 t=1000000000\n");
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
