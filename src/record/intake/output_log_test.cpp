#include "record/intake/output_log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/interrupted.h"
#include "testing/temporary_folder.h"

namespace trainscope {
namespace output_log_test {

class OutputLogTest : public testing::Test {
 protected:
  void SetUp() override {
    int fds[2];
    memory_ = *SharedMemory::create(1 << 20);
    ASSERT_EQ(::pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
    read_.reset(fds[0]);
    write_.reset(fds[1]);
  }
  void TearDown() override { memory_.unmap(); }

  TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path();
  UniqueFd read_, write_;
  SharedMemory memory_;
};

TEST_F(OutputLogTest, keeps_what_came_and_counts_what_it_cannot_keep) {
  std::string seen;
  const OutputLog::OutputObserver see = [&](size_t /*stream*/, std::string_view bytes, int64_t) {
    seen += bytes;
  };
  OutputLog log(folder_, read_.get(), {}, *memory_, see);
  ASSERT_TRUE(write_all(write_.get(), "first\n"));
  log.search();
  EXPECT_EQ(log.unkept(), 6);
  EXPECT_EQ(log.keep_searched(), 0);
  EXPECT_EQ(log.unkept(), 0);
  EXPECT_EQ(*read_file(folder_ + "/output.log"), "first\n");
  EXPECT_EQ(seen, "first\n");

  OutputLog nowhere(folder_ + "/none", read_.get(), {}, *memory_, see);
  ASSERT_TRUE(write_all(write_.get(), "lost\n"));
  EXPECT_EQ(nowhere.unsearched(), 5);
  nowhere.search();
  EXPECT_EQ(nowhere.unsearched(), 0);
  EXPECT_EQ(nowhere.keep_searched(), 5);
  EXPECT_EQ(nowhere.keep_searched(), 0);
}

TEST_F(OutputLogTest, a_restarted_recorder_goes_on_where_the_last_one_ended) {
  const std::string path = folder_ + "/file";
  const auto file = open_file(path, O_RDWR | O_CREAT | O_APPEND);
  ASSERT_TRUE(file);
  ASSERT_TRUE(write_all(file->get(), "before the run\n"));
  std::string seen;
  const OutputLog::OutputObserver see = [&](size_t stream, std::string_view bytes, int64_t) {
    EXPECT_EQ(stream, 1U);
    seen += bytes;
  };
  {
    OutputLog log(folder_, read_.get(), {file->get()}, *memory_, see);
    ASSERT_TRUE(write_all(file->get(), "step 1\nste"));
    log.search();
    log.keep_searched();
  }
  ASSERT_TRUE(write_all(file->get(), "p 2\n"));
  OutputLog next(folder_, read_.get(), {file->get()}, *memory_, see);
  next.search();
  next.keep_searched();
  EXPECT_EQ(seen, "step 1\nstep 2\n");
  EXPECT_EQ(*read_file(folder_ + "/output.log"), "step 1\nstep 2\n");
  // One that died between searching and keeping.
  memory_->followed[0].logged = memory_->followed[0].logged - 7;
  OutputLog last(folder_, read_.get(), {file->get()}, *memory_, see);
  last.search();
  last.keep_searched();
  EXPECT_EQ(seen, "step 1\nstep 2\n");
  EXPECT_EQ(*read_file(folder_ + "/output.log"), "step 1\nstep 2\nstep 2\n");
}

TEST_F(OutputLogTest, what_is_taken_together_has_one_time) {
  std::vector<int64_t> times;
  const OutputLog::OutputObserver see = [&](size_t, std::string_view, int64_t time_ns) {
    times.push_back(time_ns);
  };
  fcntl(write_.get(), F_SETPIPE_SZ, 1 << 20);
  OutputLog log(folder_, read_.get(), {}, *memory_, see);
  ASSERT_TRUE(write_all(write_.get(), std::string(200'000, 'x')));
  log.search();
  log.keep_searched();
  ASSERT_GT(times.size(), 1U);
  EXPECT_EQ(times.front(), times.back());
}

TEST_F(OutputLogTest, what_a_killed_recorder_had_written_is_not_written_again) {
  const auto file = open_file(folder_ + "/file", O_RDWR | O_CREAT | O_APPEND);
  ASSERT_TRUE(file);
  const auto keep = [&] {
    OutputLog log(folder_, read_.get(), {file->get()}, *memory_, [](size_t, auto, int64_t) {});
    log.search();
    log.keep_searched();
  };
  ASSERT_TRUE(write_all(file->get(), "step 1\n"));
  OutputLog(folder_, read_.get(), {file->get()}, *memory_, [](size_t, auto, int64_t) {});
  ASSERT_TRUE(write_all(file->get(), "step 2\n"));
  keep();
  EXPECT_EQ(*read_file(folder_ + "/output.log"), "step 2\n");
  ASSERT_TRUE(write_all(file->get(), "step 3\n"));
  // The kernel writes what the limit allows, and kills for the rest.
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit no_core{0, 0}, three_more{10, 10};
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::setrlimit(RLIMIT_FSIZE, &three_more);
    ::signal(SIGXFSZ, SIG_DFL);
    keep();
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(retry_interrupted([&] { return ::waitpid(child, &status, 0); }), child);
  ASSERT_TRUE(WIFSIGNALED(status)) << status;
  EXPECT_EQ(*read_file(folder_ + "/output.log"), "step 2\nste");
  keep();
  EXPECT_EQ(*read_file(folder_ + "/output.log"), "step 2\nstep 3\n");
  // And one that had written all of it.
  SharedFollowed& at = memory_->followed[0];
  at.logged -= 7;
  at.write_from = at.logged.load();
  at.part_size = 7;
  at.part_is_first = 1;
  at.write_size = 7;
  ASSERT_TRUE(write_all(file->get(), "step 4\n"));
  keep();
  EXPECT_EQ(*read_file(folder_ + "/output.log"), "step 2\nstep 3\nstep 4\n");
  EXPECT_EQ(at.write_size, 0);
  // Or whose job began its file anew since then.
  at.write_size = 7;
  ASSERT_EQ(::ftruncate(file->get(), 0), 0);
  ASSERT_TRUE(write_all(file->get(), "step 5\n"));
  keep();
  EXPECT_TRUE(read_file(folder_ + "/output.log")->ends_with("step 4\nstep 5\n"));
}

}  // namespace output_log_test
}  // namespace trainscope
