#include "training/timeline_fold.h"

#include <algorithm>

namespace trainscope {

namespace {

void add_to(StepTimeline::Part& sum, const StepTimeline::Part& more) {
  sum.input_s += more.input_s;
  sum.known_s += more.known_s;
  sum.lost_s += more.lost_s;
}

}  // namespace

void TimelineFold::add(const Step& step) {
  const auto mean_s = step.mean_s();
  if (!mean_s) return;
  const double whole_s = *mean_s * static_cast<double>(step.covers);
  const double input_s = step.input_wait_s.value_or(0) * static_cast<double>(step.covers);
  const double from_s = std::max(0.0, step.time_s - whole_s);
  make_room_for(step.time_s);
  part_at(static_cast<size_t>(step.time_s / timeline_.part_s));  // it is known that nothing waited
  spread(from_s, step.time_s, &StepTimeline::Part::input_s, input_s);
  if (!step.dry) return;
  spread(from_s, step.time_s, &StepTimeline::Part::known_s, whole_s);
  if (*step.dry > 0) spread(from_s, step.time_s, &StepTimeline::Part::lost_s, input_s);
}

void TimelineFold::spread(double from_s, double to_s, double StepTimeline::Part::*kind,
                          double seconds) {
  if (!(seconds > 0)) return;
  const double part_s = timeline_.part_s;
  const auto first = static_cast<size_t>(from_s / part_s);
  const auto last = static_cast<size_t>(to_s / part_s);
  if (first == last || !(to_s > from_s)) {
    part_at(last).*kind += seconds;
    return;
  }
  for (size_t i = first; i <= last; ++i) {
    const double begin_s = static_cast<double>(i) * part_s;
    const double overlap_s = std::min(to_s, begin_s + part_s) - std::max(from_s, begin_s);
    part_at(i).*kind += seconds * std::max(0.0, overlap_s) / (to_s - from_s);
  }
}

StepTimeline::Part& TimelineFold::part_at(size_t place) {
  if (place >= timeline_.parts.size()) timeline_.parts.resize(place + 1);
  return timeline_.parts[place];
}

void TimelineFold::make_room_for(double time_s) {
  while (time_s >= timeline_.part_s * static_cast<double>(kMostParts)) {
    std::vector<StepTimeline::Part>& parts = timeline_.parts;
    for (size_t i = 0; i < parts.size(); ++i) {
      if (i % 2 == 1) {
        add_to(parts[i / 2], parts[i]);
      } else {
        parts[i / 2] = parts[i];
      }
    }
    parts.resize((parts.size() + 1) / 2);
    timeline_.part_s *= 2;
  }
}

}  // namespace trainscope
