#include "record/supervise/output.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "record/intake/printed.h"

namespace trainscope {
namespace record_output_test {

std::string read_all(int fd) {
  std::string text(1 << 20, '\0');
  const ssize_t size = ::read(fd, text.data(), text.size());
  text.resize(size < 0 ? 0 : static_cast<size_t>(size));
  return text;
}

void send(int fd, std::string_view text) {
  ASSERT_EQ(::write(fd, text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

// The job's pipe, what the user has as stdout, and the channel between them.
class OutputTest : public testing::TestWithParam<OutputChannel::Transfer> {
 protected:
  OutputTest() {
    ::signal(SIGPIPE, SIG_IGN);  // as in a supervisor
    const auto make = [](int ends[2], bool is_socket) {
      if (!is_socket) return ::pipe2(ends, O_NONBLOCK | O_CLOEXEC);
      return ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends);
    };
    int job[2], user[2], log[2];
    EXPECT_EQ(make(job, false), 0);
    EXPECT_EQ(make(user, GetParam() == OutputChannel::Transfer::copy), 0);
    EXPECT_EQ(make(log, false), 0);
    job_.reset(job[1]);
    user_.reset(user[0]);
    log_.reset(log[0]);
    log_end_.reset(log[1]);
    channel_.emplace(GetParam(), UniqueFd(job[0]), UniqueFd(user[1]), false, true, 1);
  }
  ~OutputTest() override { memory_.unmap(); }

  void pump() { channel_->pump(*memory_, log_end_.get()); }

  SharedMemory memory_ = *SharedMemory::create(1 << 20);
  UniqueFd job_, user_, log_, log_end_;
  std::optional<OutputChannel> channel_;
};
INSTANTIATE_TEST_SUITE_P(Transfers, OutputTest,
                         testing::Values(OutputChannel::Transfer::splice,
                                         OutputChannel::Transfer::copy));

TEST_P(OutputTest, passes_bytes_on_and_copies_them) {
  send(job_.get(), "step 1\n");
  pump();
  EXPECT_EQ(read_all(user_.get()), "step 1\n");
  EXPECT_EQ(read_all(log_.get()), "step 1\n");
  EXPECT_EQ(memory_->output_dropped, 0);
}

TEST_P(OutputTest, a_slow_reader_gets_everything_once) {
  std::string sent, got;
  for (int i = 0; i < 20'000; ++i) {
    const std::string line = "line " + std::to_string(i) + "\n";
    while (::write(job_.get(), line.data(), line.size()) < 0) {  // full: as a job would wait
      pump();
      if (channel_->waits_for_reader(*memory_)) got += read_all(user_.get());
    }
    sent += line;
  }
  job_.reset();
  while (!channel_->is_closed()) {
    pump();
    got += read_all(user_.get());
  }
  EXPECT_EQ(got, sent);
}

// The kernel refuses to move bytes into a full pipe before it looks whether there will be any.
TEST_P(OutputTest, sees_the_end_behind_a_pipe_that_is_exactly_full) {
  send(job_.get(), std::string(size_t{1} << 16, 'x'));
  for (int i = 0; i < 100; ++i) pump();
  job_.reset();
  for (int i = 0; i < 3; ++i) pump();
  EXPECT_TRUE(channel_->is_closed());
}

TEST_P(OutputTest, waits_for_a_reader_no_longer_than_it_may) {
  ::fcntl(user_.get(), F_SETPIPE_SZ, 1 << 20);  // it gets no larger at the end
  const std::string page(4096, 'x');
  for (int i = 0; i < 1000; ++i) {
    while (::write(job_.get(), page.data(), page.size()) > 0) {
    }
    pump();
  }
  channel_->drain(*memory_, -1, 0);
  EXPECT_FALSE(channel_->is_closed());
  EXPECT_TRUE(channel_->waits_for_reader(*memory_));
}

TEST_P(OutputTest, a_slow_reader_keeps_no_line_from_the_log) {
  std::string sent, logged;
  for (int i = 0; i < 100; ++i) {
    const std::string line = "step " + std::to_string(i) + "\n";
    send(job_.get(), line);
    sent += line;
    pollfd want = channel_->poll_request(*memory_);
    ASSERT_EQ(::poll(&want, 1, 10'000), 1) << "nobody is woken for " << line;
    pump();
    pump();
    logged += read_all(log_.get());
    ASSERT_EQ(logged, sent);
  }
  job_.reset();
  std::string got;
  while (!channel_->is_closed()) {
    got += read_all(user_.get());
    pump();
  }
  EXPECT_EQ(got + read_all(user_.get()), sent);
  EXPECT_EQ(read_all(log_.get()), "");
  EXPECT_EQ(memory_->output_dropped, 0);
}

TEST_P(OutputTest, what_a_slow_reader_keeps_from_the_log_is_counted) {
  const std::string page(4096, 'x');
  size_t sent = 0;
  for (int i = 0; i < 1000; ++i) {
    while (::write(job_.get(), page.data(), page.size()) > 0) sent += page.size();
    pump();
  }
  size_t logged = 0;
  while (const size_t size = read_all(log_.get()).size()) logged += size;
  channel_->note_unlogged(*memory_);
  EXPECT_EQ(memory_->output_unsearched, static_cast<int64_t>(sent - logged));
  EXPECT_GT(sent, logged);
}

TEST_P(OutputTest, a_reader_that_comes_later_holds_nobody_at_the_end) {
  std::string sent;
  for (int i = 0; i < 100; ++i) {
    send(job_.get(), "short\n");
    sent += "short\n";
    pump();
  }
  job_.reset();
  channel_->drain(*memory_, log_end_.get(), 0);
  EXPECT_TRUE(channel_->is_closed());
  EXPECT_EQ(read_all(user_.get()), sent);
}

TEST_P(OutputTest, a_reader_that_has_left_is_reported_to_the_job) {
  user_.reset();
  send(job_.get(), "step 1\n");
  pump();
  EXPECT_TRUE(channel_->is_closed());
  EXPECT_EQ(memory_->closed_channels, 1U << 1U);
  EXPECT_EQ(::write(job_.get(), "x", 1), -1);
  EXPECT_EQ(errno, EPIPE);
}

TEST_P(OutputTest, a_log_that_takes_nothing_costs_the_copy_alone) {
  const std::string page(4096, 'x');
  while (::write(log_end_.get(), page.data(), page.size()) > 0) {
  }
  send(job_.get(), "step 1\n");
  pump();
  EXPECT_EQ(read_all(user_.get()), "step 1\n");
  EXPECT_EQ(memory_->output_dropped, 7);
}

TEST_P(OutputTest, bytes_that_the_log_lacks_are_marked_in_it) {
  const std::string page(4096, 'x');
  send(job_.get(), "step 1\nstep 2");
  pump();
  while (::write(log_end_.get(), page.data(), page.size()) > 0) {
  }
  send(job_.get(), "34\nst");
  pump();
  EXPECT_EQ(memory_->output_gaps, 1U << 1U);
  while (read_all(log_.get()).size() == 1 << 20) {
  }
  send(job_.get(), "ep 1235\n");
  pump();
  EXPECT_EQ(read_all(log_.get()), std::string(kOutputGap) + "ep 1235\n");
  EXPECT_EQ(memory_->output_gaps, 0U);
  EXPECT_EQ(memory_->output_dropped, 5);
  EXPECT_EQ(read_all(user_.get()), "step 1\nstep 234\nstep 1235\n");
}

}  // namespace record_output_test
}  // namespace trainscope
