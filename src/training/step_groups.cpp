#include "training/step_groups.h"

#include <fmt/format.h>

#include "training/tracks.h"

namespace trainscope {

namespace {

constexpr int64_t kMostUntimed = 4;  // one in so many
constexpr double kLeastSpan = 0.5;

}  // namespace

void StepGroups::add(const Step& step) {
  if (steps_ == 0) first_s_ = step.time_s;
  if (steps_ == 0 || step.time_s != last_s_) {
    untimed_ = untimed();
    group_size_ = group_untimed_ = 0;
  }
  ++group_size_;
  ++(step.duration_s ? reported_ : group_untimed_);
  ++steps_;
  last_s_ = step.time_s;
}

std::string StepGroups::reason(std::string_view source) const {
  if (untimed() * kMostUntimed <= steps_) return "";
  if (source == kPipe) {
    return fmt::format(
        "step times are unknown: {} of {} steps arrived through the pipe together with others; "
        "write each line when its step ends, or give it t=",
        untimed(), steps_);
  }
  if (source == kEventFiles) {
    return fmt::format(
        "step times are unknown: {} of {} steps have the same date as others in the event files",
        untimed(), steps_);
  }
  return fmt::format(
      "step times are unknown: {} of {} printed steps arrived together with others: the output is "
      "buffered (try python -u or PYTHONUNBUFFERED=1), or they come faster than it is read",
      untimed(), steps_);
}

bool StepGroups::are_averages_known() const {
  return steps_ > 0 && last_s_ - first_s_ >= kLeastSpan * last_s_;
}

}  // namespace trainscope
