#include "record/intake/progress.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/clock.h"
#include "record/sample/test_ring.h"

namespace trainscope {
namespace progress_test {

class ProgressTest : public testing::Test {
 protected:
  ProgressTest() : memory_(*SharedMemory::create(1 << 20)), ring_(memory_) {
    EXPECT_EQ(::pipe2(ends_, O_NONBLOCK), 0);
    memory_->zero_ns = monotonic_ns() - kNsPerSecond;
    pipe_.emplace(ends_[0], sink_, ring_, memory_);
  }
  ~ProgressTest() override {
    ::close(ends_[0]);
    ::close(ends_[1]);
    memory_.unmap();
  }

  void send(const std::string& text) {
    ASSERT_EQ(::write(ends_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
    EXPECT_TRUE(pipe_->read_some());
  }
  std::vector<std::string> kept(RecordKind kind) { return texts_in(ring_, kind); }

  SharedMemory memory_;
  Ring ring_;
  ProgressSink sink_{ring_, memory_};
  int ends_[2] = {-1, -1};
  std::optional<ProgressPipe> pipe_;
};

TEST_F(ProgressTest, keeps_lines_with_their_time_and_number) {
  const int64_t zero = memory_->zero_ns;
  send("step 1 t=" + std::to_string(zero + 500) + "\nbegin input t=" + std::to_string(zero + 700) +
       "\n");
  send("step 2 t=" + std::to_string(zero + 900) + "\n");
  const auto texts = kept(RecordKind::step);
  ASSERT_EQ(texts.size(), 2U);
  EXPECT_EQ(texts[0], "0\n500 pipe step 1\n700 pipe begin input\n");
  EXPECT_EQ(texts[1], "2\n900 pipe step 2\n");
  EXPECT_EQ(memory_->step, 2);
}

// An event file may have a time in the place of the step.
TEST_F(ProgressTest, a_number_that_is_not_a_step_is_not_shown) {
  Report report;
  report.kind = Report::Kind::step;
  report.number = 3;
  ProgressSink::Batch batch;
  batch.add(500, "tensorboard", report);
  report.number = int64_t{1} << 60;
  batch.add(700, "tensorboard", report);
  sink_.push(batch);
  EXPECT_EQ(memory_->step, 3);
  EXPECT_EQ(kept(RecordKind::step), std::vector<std::string>{"0\n500 tensorboard step 3\n"});
}

TEST_F(ProgressTest, knows_whether_to_hurry) {
  const std::string timed = " t=" + std::to_string(memory_->zero_ns + 500) + "\n";
  send("step 1" + timed + "step 2" + timed);
  EXPECT_TRUE(pipe_->are_all_timed());
  send("step 3" + timed + "step 4\n");
  EXPECT_FALSE(pipe_->are_all_timed());
  send("this is no line at all\n");
  EXPECT_FALSE(pipe_->are_all_timed());
}

TEST_F(ProgressTest, a_line_may_come_in_pieces) {
  send("ste");
  EXPECT_TRUE(kept(RecordKind::step).empty());
  send("p 7\n");
  ASSERT_EQ(kept(RecordKind::step).size(), 1U);
  EXPECT_TRUE(kept(RecordKind::step)[0].ends_with(" pipe step 7\n"));
}

TEST_F(ProgressTest, counts_the_steps_that_are_stored) {
  send("step 10\nstep 20 loss=0.5\nbegin input\nstep 30\n");
  EXPECT_TRUE(memory_->steps.is_known());
  EXPECT_EQ(memory_->steps.count(false), 30);
  while (sink_.has_room()) ring_.push_text(RecordKind::event, std::string(60'000, 'x'));
  ProgressSink::Batch refused;
  refused.add(kNsPerSecond * 100, "pipe", *parse_report("step 40"));
  sink_.push(refused);
  EXPECT_EQ(memory_->refused_reports, 1);
  EXPECT_EQ(memory_->steps.count(false), 30) << "a step that is not in the run does not count";
}

TEST_F(ProgressTest, garbage_is_counted_and_the_first_is_told) {
  send(std::string("\x01\x02\xff\n", 4) + "hello\n\n" + std::string(10'000, 'x') + "\nstep 3\n");
  EXPECT_EQ(memory_->unreadable_reports, 3);
  EXPECT_EQ(kept(RecordKind::event).size(), 1U);
  ASSERT_EQ(kept(RecordKind::step).size(), 1U);
  EXPECT_TRUE(kept(RecordKind::step)[0].ends_with(" pipe step 3\n"));
  EXPECT_EQ(progress_notes(*memory_, false).size(), 1U);
}

TEST_F(ProgressTest, lines_that_were_not_searched_are_noted) {
  EXPECT_TRUE(progress_notes(*memory_, false).empty());
  memory_->skipped_lines = 3400;
  EXPECT_EQ(progress_notes(*memory_, false),
            std::vector<std::string>{"3400 of the printed lines were not searched for steps: "
                                     "searching may take 1 % of a CPU; to report every step, use "
                                     "TRAINSCOPE_PIPE"});
}

TEST_F(ProgressTest, a_number_above_2_to_the_53_is_malformed) {
  send("step 9007199254740992\nstep 9007199254740993\nepoch 9007199254740993\n");
  EXPECT_EQ(memory_->unreadable_reports, 2);
  EXPECT_EQ(memory_->next_report, 1);
}

TEST_F(ProgressTest, a_time_of_another_clock_is_replaced) {
  send("step 1 t=5\nstep 2 t=6\n");
  const auto texts = kept(RecordKind::step);
  ASSERT_EQ(texts.size(), 1U);
  EXPECT_EQ(texts[0].find("0\n5 "), std::string::npos);
  EXPECT_EQ(kept(RecordKind::event).size(), 1U) << "reported once";
}

TEST_F(ProgressTest, a_mark_is_an_event) {
  send("mark learning rate lowered\n");
  ASSERT_EQ(kept(RecordKind::event).size(), 1U);
  EXPECT_NE(kept(RecordKind::event)[0].find("learning rate lowered"), std::string::npos);
  EXPECT_TRUE(kept(RecordKind::step).empty());
}

TEST_F(ProgressTest, half_of_the_ring_is_left_to_the_samples) {
  std::string lines;
  for (int i = 0; i < 500; ++i) lines += "scalar some/name/of/a/number 0.123456789\n";
  bool full = false;
  for (int i = 0; i < 100 && !full; ++i) {
    ASSERT_GT(::write(ends_[1], lines.data(), lines.size()), 0);
    full = !pipe_->read_some();
  }
  EXPECT_TRUE(full);
  EXPECT_LE(ring_.head() - ring_.tail(), ring_.capacity() * 3 / 4);
  ring_.release(ring_.head());
  EXPECT_TRUE(pipe_->read_some()) << "the rest waited in the pipe";
  EXPECT_EQ(memory_->refused_reports, 0);
}

// A shell waits if the pipe is full: while the disk is full it would never continue.
TEST_F(ProgressTest, empties_the_pipe_though_the_ring_is_full) {
  while (sink_.has_room()) ring_.push_text(RecordKind::event, std::string(60'000, 'x'));
  const int capacity = ::fcntl(ends_[1], F_GETPIPE_SZ);
  const std::string line = "step 1" + std::string(56, ' ') + "\n";  // cut by reads of 64 KiB
  int sent = 0;
  for (; sent < 4 * capacity / static_cast<int>(line.size()); ++sent) {
    ASSERT_EQ(::write(ends_[1], line.data(), line.size()), static_cast<ssize_t>(line.size()))
        << "the pipe is full after " << sent << " lines";
    if (sent % 64 != 0) continue;
    EXPECT_FALSE(pipe_->read_some());
  }
  EXPECT_GT(memory_->refused_reports, 0);
  // Lines that are still in the pipe are stored when there is space again: every line is accounted
  // for.
  ring_.release(ring_.head());
  while (pipe_->read_some() && pipe_->has_backlog()) {
  }
  EXPECT_EQ(memory_->refused_reports + memory_->next_report, sent);
  EXPECT_EQ(memory_->unreadable_reports, 0);
}

}  // namespace progress_test
}  // namespace trainscope
