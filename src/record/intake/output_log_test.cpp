#include "record/intake/output_log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/interrupted.h"
#include "format/format.h"
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
  static void ignore(size_t /*stream*/, std::string_view /*bytes*/, int64_t /*time_ns*/) {}
  // Prints into the pipe, and takes that.
  void print(OutputLog& log, std::string_view text) {
    ASSERT_TRUE(write_all(write_.get(), text));
    log.search();
    ASSERT_EQ(log.keep_searched(), 0);
  }
  std::vector<OutputTime> times(const std::string& name) {
    const auto bytes = read_file(folder_ + "/" + name);
    return bytes ? parse_output_times(*bytes) : std::vector<OutputTime>();
  }

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
  // Longer than its times.
  const std::string before = std::string(93, '.') + "step 2\n";
  ASSERT_TRUE(write_all(file->get(), before));
  keep();
  EXPECT_EQ(*read_file(folder_ + "/output.log"), before);
  ASSERT_TRUE(write_all(file->get(), "step 3\n"));
  // The kernel writes what the limit allows, and kills for the rest.
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit no_core{0, 0}, three_more{103, 103};
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::setrlimit(RLIMIT_FSIZE, &three_more);
    ::signal(SIGXFSZ, SIG_DFL);
    keep();
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(retry_interrupted([&] { return ::waitpid(child, &status, 0); }), child);
  ASSERT_TRUE(WIFSIGNALED(status)) << status;
  EXPECT_EQ(*read_file(folder_ + "/output.log"), before + "ste");
  keep();
  EXPECT_EQ(*read_file(folder_ + "/output.log"), before + "step 3\n");
  // And one that had written all of it.
  SharedFollowed& at = memory_->followed[0];
  at.logged -= 7;
  at.write_from = at.logged.load();
  at.part_size = 100;
  at.part_is_first = 1;
  at.write_size = 7;
  ASSERT_TRUE(write_all(file->get(), "step 4\n"));
  keep();
  EXPECT_EQ(*read_file(folder_ + "/output.log"), before + "step 3\nstep 4\n");
  EXPECT_EQ(at.write_size, 0);
  // Or whose job began its file anew since then.
  at.write_size = 7;
  ASSERT_EQ(::ftruncate(file->get(), 0), 0);
  ASSERT_TRUE(write_all(file->get(), "step 5\n"));
  keep();
  EXPECT_TRUE(read_file(folder_ + "/output.log")->ends_with("step 4\nstep 5\n"));
}

TEST_F(OutputLogTest, what_is_kept_has_the_time_when_it_was_read) {
  const int64_t before_ns = monotonic_ns();
  int64_t between_ns = 0, end_ns = 0;
  {
    OutputLog log(folder_, read_.get(), {}, *memory_, ignore);
    print(log, "first\n");
    between_ns = monotonic_ns();
    print(log, "soon after\n");  // may share its time
  }
  // A restarted recorder notes its first bytes, however early.
  OutputLog next(folder_, read_.get(), {}, *memory_, ignore);
  print(next, "next\n");
  end_ns = monotonic_ns();
  const auto found = times("output.times");
  ASSERT_GE(found.size(), 2U);
  EXPECT_EQ(found.front().offset, 0U);
  EXPECT_GE(found.front().time_ns, before_ns);
  EXPECT_LE(found.front().time_ns, between_ns);
  EXPECT_EQ(found.back().offset, 17U);
  EXPECT_GE(found.back().time_ns, between_ns);
  EXPECT_LE(found.back().time_ns, end_ns);
}

TEST_F(OutputLogTest, times_move_with_their_part) {
  constexpr size_t kPart = size_t{16} << 20;
  const std::string line = "a line of the job\n";
  const auto set = [&](const std::string& name, size_t bytes, int64_t time_ns) {
    std::string record;
    append_output_time(record, time_ns, 0);
    ASSERT_TRUE(replace_file(folder_ + "/" + name + ".log", std::string(bytes, 'x')));
    ASSERT_TRUE(replace_file(folder_ + "/" + name + ".times", record));
  };
  set("output", kPart, 1);
  set("output.1", kPart, 2);
  set("output.2", kPart - 4, 3);
  const int64_t before_ns = monotonic_ns();
  OutputLog log(folder_, read_.get(), {}, *memory_, ignore);
  print(log, line);
  EXPECT_EQ(read_file(folder_ + "/output.2.log")->size(), line.size() - 4);
  EXPECT_EQ(times("output.times").size(), 1U);
  // The last four bytes of the older part were read by this recorder.
  ASSERT_EQ(times("output.1.times").size(), 2U);
  EXPECT_EQ(times("output.1.times").front().time_ns, 3);
  EXPECT_EQ(times("output.1.times").back().offset, kPart - 4);
  ASSERT_EQ(times("output.2.times").size(), 1U);
  EXPECT_EQ(times("output.2.times").front().offset, 0U);
  EXPECT_GE(times("output.2.times").front().time_ns, before_ns);
}

TEST_F(OutputLogTest, a_new_part_has_no_times_of_an_earlier_one) {
  // A recorder was killed when it had renamed a part and not its times.
  std::string records;
  append_output_time(records, 1, 0);
  append_output_time(records, 2, 100);
  ASSERT_TRUE(replace_file(folder_ + "/output.log", std::string(size_t{16} << 20, 'x')));
  ASSERT_TRUE(replace_file(folder_ + "/output.2.times", records));
  OutputLog log(folder_, read_.get(), {}, *memory_, ignore);
  print(log, "line\n");
  ASSERT_EQ(times("output.2.times").size(), 1U);
  EXPECT_GT(times("output.2.times").front().time_ns, 2);
}

}  // namespace output_log_test
}  // namespace trainscope
