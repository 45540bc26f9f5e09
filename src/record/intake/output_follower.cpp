#include "record/intake/output_follower.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/clock.h"
#include "training/training.h"

namespace trainscope {

namespace {

constexpr int kPollPauseMs = 50;
// How often to check at most which processes have the file open, while it grows.
constexpr int64_t kLookPause = 50'000'000;
// A reading takes some 20 us: half a percent of a processor. So many may come at once.
constexpr double kReadingsPerSecond = 250;
constexpr int kRestMs = 10;
constexpr int kLastReadings = 64;  // of a megabyte
// Writes without notification, such as those of another machine, are found after this time.
constexpr int kSafetyMs = 1000;

}  // namespace

void OutputFollower::run(int wake_fd, const std::function<bool()>& is_over) {
  report_coarse_times();
  look_for_strangers(true);
  const bool has_files = !log_.files().empty();
  const int usual_ms = !has_files ? -1 : watch_.reason().empty() ? kSafetyMs : kPollPauseMs;
  while (!is_over()) {
    std::array<pollfd, 3> ready = {
        {{wake_fd, POLLIN, 0}, {log_.pipe_fd(), POLLIN, 0}, {watch_.fd(), POLLIN, 0}}};
    // After too many reads it waits briefly for the end only.
    const bool rests = must_back_off();
    const int timeout_ms = rests ? kRestMs : is_backlogged_ ? 0 : usual_ms;
    if (::poll(ready.data(), rests ? 1 : ready.size(), timeout_ms) < 0) continue;
    take();
    const bool may_be_foreign = was_opened_ || bytes_ > seen_bytes_;
    if (has_files && may_be_foreign) look_for_strangers(false);
  }
  // Output of the job; not everything that a daemon continues to print.
  for (int i = 0; i == 0 || (is_backlogged_ && i < kLastReadings); ++i) search();
  look_for_strangers(true);
}

void OutputFollower::keep_rest() { memory_->output_dropped += log_.keep_searched(); }

void OutputFollower::note_unsearched() {
  int64_t bytes = log_.unsearched();
  for (const SharedLine& line : memory_->lines) bytes += line.size;  // without its end
  memory_->output_unsearched += bytes;
}

void OutputFollower::take() {
  search();
  keep_rest();
}

void OutputFollower::search() {
  was_opened_ = watch_.take_events() || was_opened_;
  const OutputLog::Taken taken = log_.search();
  bytes_ += taken.bytes;
  is_backlogged_ = taken.more;
  readings_left_ -= 1;
}

bool OutputFollower::must_back_off() {
  const int64_t now = monotonic_ns();
  readings_left_ = std::min(kReadingsPerSecond,
                            readings_left_ + to_seconds(now - refilled_ns_) * kReadingsPerSecond);
  refilled_ns_ = now;
  return readings_left_ < 1;
}

void OutputFollower::look_for_strangers(bool at_once) {
  const int64_t now = monotonic_ns();
  const bool is_due = at_once || was_opened_ || now - looked_ns_ >= kLookPause;
  if (memory_->output_is_shared != 0 || !is_due) return;
  looked_ns_ = now;
  seen_bytes_ = bytes_;
  const auto found = writers_.look(std::exchange(was_opened_, false), bytes_, at_once);
  if (writers_.doubt() && memory_->output_may_be_shared.exchange(1) == 0) {
    event_sink_("progress", *writers_.doubt());
  }
  if (!found) return;
  memory_->output_is_shared = 1;
  memory_->step = -1;  // of the status line; it may have come from another process
  event_sink_(std::string(kOutputIsShared), *found);
}

void OutputFollower::report_coarse_times() {
  if (watch_.reason().empty() || memory_->output_is_polled.exchange(1) != 0) return;
  event_sink_(std::string(kOutputIsPolled),
              "the output file cannot be watched by inotify (" + watch_.reason() + ")");
}

}  // namespace trainscope
