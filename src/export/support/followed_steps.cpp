#include "export/support/followed_steps.h"

#include <string>

#include "base/crc32c.h"
#include "export/support/steps.h"
#include "export/support/text.h"

namespace trainscope {

namespace {

// Twice as many as may be warm-up, so that their median is that of the others.
constexpr int64_t kFirstSteps = 20;

class FollowedSteps : public FollowedExport {
 public:
  FollowedSteps(const ExportOptions& options, const ExportSink& sink)
      : options_(options), buffer_(sink) {}

  Status begin(const RunView& whole) override {
    buffer_.text() += steps_header_line(whole);
    return add_whole(whole);
  }

  bool needs_whole() const override { return !is_begun_; }

  // Its steps are complete; some of them may have been written when the whole run was read.
  Status add(const RunView& part) override {
    TS_CHECK_OK(for_each_step(part, options_.range, [&](const Step& step) -> Status {
      if (step.step <= last_step_) return {};
      line_.clear();
      append_step_line(line_, step);
      hold(step);
      return pass_held();
    }));
    return buffer_.pass_on();
  }

  Status add_whole(const RunView& whole) override {
    is_begun_ = is_begun_ || whole.training().observed >= kFirstSteps;
    if (is_begun_) TS_CHECK_OK(write(whole, false));
    return buffer_.pass_on();
  }

  Result<std::string> finish(const RunView& whole) override {
    const uint32_t as_written = checksum_;
    TS_CHECK_OK(write(whole, true));
    TS_CHECK_OK(buffer_.pass_on());
    if (as_written == checksum_now_) return std::string();
    return std::string(
        "what is known of the steps changed after they were written; export the run again for the "
        "final rows");
  }

 private:
  // Writes the steps after those that were written.
  Status write(const RunView& whole, bool is_over) {
    const int64_t written = written_;
    int64_t number = 0;
    double held_s = 0;
    checksum_now_ = 0;
    TS_CHECK_OK(for_each_step(whole, options_.range, [&](const Step& step) -> Status {
      line_.clear();
      append_step_line(line_, step);
      if (number++ < written) {
        checksum_now_ = crc32c(line_, checksum_now_);
        return {};
      }
      // A step is complete when a later one was reported.
      if (step.time_s > held_s) TS_CHECK_OK(pass_held());
      held_s = step.time_s;
      hold(step);
      return {};
    }));
    if (is_over) TS_CHECK_OK(pass_held());
    held_.clear();
    held_count_ = 0;
    return {};
  }

  void hold(const Step& step) {
    held_ += line_;
    ++held_count_;
    held_step_ = step.step;
  }

  Status pass_held() {
    if (held_count_ > 0) last_step_ = held_step_;
    checksum_ = crc32c(held_, checksum_);
    buffer_.text() += held_;
    written_ += held_count_;
    held_.clear();
    held_count_ = 0;
    return buffer_.pass_on_when_full();
  }

  const ExportOptions& options_;
  TextBuffer buffer_;
  bool is_begun_ = false;
  std::string line_, held_;  // steps of the last time
  int64_t written_ = 0, held_count_ = 0;
  int64_t last_step_ = 0, held_step_ = 0;  // the last that was written, the last that is held
  // Of the rows that were written: as they were then, and as they would be written now.
  uint32_t checksum_ = 0, checksum_now_ = 0;
};

}  // namespace

std::unique_ptr<FollowedExport> follow_steps(const ExportOptions& options, const ExportSink& sink) {
  return std::make_unique<FollowedSteps>(options, sink);
}

}  // namespace trainscope
