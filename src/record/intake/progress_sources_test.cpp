#include "record/intake/progress_sources.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <future>

#include "base/clock.h"
#include "record/sample/test_ring.h"
#include "testing/temporary_folder.h"

namespace trainscope {
namespace progress_sources_test {

class ProgressSourcesTest : public testing::Test {
 protected:
  ProgressSourcesTest() : memory_(*SharedMemory::create(1 << 20)), ring_(memory_) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK), 0);
    read_end_.reset(ends[0]);
    write_end_.reset(ends[1]);
    begin_time(*memory_);
  }
  ~ProgressSourcesTest() override { memory_.unmap(); }

  SharedMemory memory_;
  Ring ring_;
  TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path();
  UniqueFd read_end_, write_end_;
  JobProcesses job_;
};

TEST_F(ProgressSourcesTest, event_files_that_take_too_long_at_the_end_are_reported) {
  std::ofstream(folder_ + "/events.out.tfevents.1") << "this is no record at all";
  std::promise<void> is_held, may_go_on;
  std::vector<std::string> warnings;
  // The thread that reads event files hangs while it reports the damage.
  const auto tell = [&](const std::string& text) {
    if (text.find("damaged") == std::string::npos) {
      warnings.push_back(text);
      return;
    }
    is_held.set_value();
    may_go_on.get_future().wait();
  };
  ProgressSources sources(ring_, memory_,
                          {.pipe_fd = read_end_.get(),
                           .tensorboard = {folder_},
                           .steps_from = "",
                           .job = &job_,
                           .on_half_full = [] {},
                           .event_sink = tell,
                           .event_files_limit = std::chrono::milliseconds(1)});
  sources.start();
  is_held.get_future().wait();
  sources.finish();
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("steps may be missing"), std::string::npos) << warnings[0];
  may_go_on.set_value();
}

TEST_F(ProgressSourcesTest, event_files_that_are_read_to_the_end_are_not_told) {
  std::vector<std::string> warnings;
  ProgressSources sources(ring_, memory_,
                          {.pipe_fd = read_end_.get(),
                           .tensorboard = {folder_},
                           .steps_from = "",
                           .job = &job_,
                           .on_half_full = [] {},
                           .event_sink = [&](const std::string& text) { warnings.push_back(text); },
                           .event_files_limit = std::chrono::hours(1)});
  sources.start();
  sources.finish();
  EXPECT_TRUE(warnings.empty());
}

// A burst of lines is faster than the disk; the file that they are in, and the pipe, hold them.
TEST_F(ProgressSourcesTest, printed_lines_wait_until_the_writer_has_made_room) {
  while (ring_.push_text(RecordKind::info, std::string(1000, 'x'))) {
  }
  int asked = 0;
  ProgressSources sources(ring_, memory_,
                          {.pipe_fd = read_end_.get(),
                           .tensorboard = {},
                           .steps_from = "",
                           .job = &job_,
                           .on_half_full =
                               [&] {
                                 if (++asked == 3) (void)take_reports(ring_);
                               },
                           .event_sink = [](const std::string&) {}});
  sources.observe_output(0, "step 1 loss 1\n", monotonic_ns());
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(memory_->refused_reports, 0);
  EXPECT_NE(take_reports(ring_).find("step 1"), std::string::npos);
}

TEST_F(ProgressSourcesTest, printed_lines_do_not_wait_for_a_full_disk_or_long_after_the_job) {
  while (ring_.push_text(RecordKind::info, std::string(1000, 'x'))) {
  }
  int asked = 0;
  ProgressSources sources(ring_, memory_,
                          {.pipe_fd = read_end_.get(),
                           .tensorboard = {},
                           .steps_from = "",
                           .job = &job_,
                           .on_half_full = [&] { ++asked; },
                           .event_sink = [](const std::string&) {}});
  memory_->storage_error = ENOSPC;
  sources.observe_output(0, "step 1 loss 1\n", monotonic_ns());
  memory_->storage_error = 0;
  memory_->job_ended_ns = monotonic_ns() - kNsPerSecond;
  sources.observe_output(0, "step 2 loss 1\n", monotonic_ns());
  EXPECT_EQ(asked, 0);
  EXPECT_EQ(memory_->refused_reports, 2);
}

TEST_F(ProgressSourcesTest, lines_beyond_the_budget_of_cpu_time_are_told_once) {
  ProgressSources sources(ring_, memory_,
                          {.pipe_fd = read_end_.get(),
                           .tensorboard = {},
                           .steps_from = "",
                           .job = &job_,
                           .on_half_full = [] {},
                           .event_sink = [](const std::string&) {}});
  std::string lines;
  for (int i = 0; i < 1000; ++i) lines += "batch of 32: nothing that is a step\n";
  // All at one time: the budget does not grow, however long this takes.
  const int64_t now_ns = monotonic_ns();
  while (memory_->skipped_lines == 0) sources.observe_output(0, lines, now_ns);
  for (int i = 0; i < 3; ++i) sources.observe_output(0, lines, now_ns);
  EXPECT_GE(memory_->skipped_lines, 3000);
  const std::vector<std::string> events = texts_in(ring_, RecordKind::event);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_NE(events[0].find("some lines are not searched from now on"), std::string::npos)
      << events[0];
  const std::vector<std::string> notes = progress_notes(*memory_, false);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_TRUE(
      notes[0].starts_with(std::to_string(memory_->skipped_lines) + " of the printed lines"))
      << notes[0];
}

}  // namespace progress_sources_test
}  // namespace trainscope
