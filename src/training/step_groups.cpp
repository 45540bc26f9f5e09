#include "training/step_groups.h"

#include <fmt/format.h>

namespace trainscope {

namespace {

constexpr size_t kMostUntimed = 4;  // one in so many
constexpr double kLeastSpan = 0.5;

}  // namespace

size_t end_of_group(const std::vector<Step>& steps, size_t begin) {
  size_t end = begin + 1;
  while (end < steps.size() && steps[end].time_s == steps[begin].time_s) ++end;
  return end;
}

size_t count_untimed(const std::vector<Step>& steps) {
  size_t untimed = 0;
  for (size_t i = 0; i < steps.size();) {
    const size_t end = end_of_group(steps, i);
    for (size_t k = i; end - i > 1 && k < end; ++k) untimed += steps[k].duration_s ? 0 : 1;
    i = end;
  }
  return untimed;
}

std::string why_times_are_unknown(const std::vector<Step>& steps, std::string_view source) {
  const size_t untimed = count_untimed(steps);
  if (untimed * kMostUntimed <= steps.size()) return "";
  if (source == "pipe") {
    return fmt::format(
        "step times are unknown: {} of {} steps arrived through the pipe together with others; "
        "write "
        "each line when its step ends, or give it t=",
        untimed, steps.size());
  }
  return fmt::format(
      "step times are unknown: {} of {} printed steps arrived together with others, because of "
      "buffered output; try python -u or PYTHONUNBUFFERED=1",
      untimed, steps.size());
}

bool are_averages_known(const std::vector<Step>& steps) {
  if (steps.empty()) return false;
  const double last_s = steps.back().time_s;
  return last_s - steps.front().time_s >= kLeastSpan * last_s;
}

}  // namespace trainscope
