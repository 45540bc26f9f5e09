#include "training/step_overview.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace trainscope {

namespace {

bool is_longer(const StepOverview::Kept& a, const StepOverview::Kept& b) {
  return *a.step.duration_s > *b.step.duration_s;
}

}  // namespace

void StepOverviewFold::add(const Step& step) {
  const double before_s = std::exchange(before_s_, step.time_s);
  if (overview_.kept.size() < kMaxWarmup) {
    overview_.kept.push_back({step, before_s});
    return;
  }
  const bool is_full = longest_.size() == kMaxLongest;
  if (!step.duration_s || (is_full && *step.duration_s <= *longest_.front().step.duration_s)) {
    leave_out(step);
    return;
  }
  if (is_full) {
    std::pop_heap(longest_.begin(), longest_.end(), is_longer);
    leave_out(longest_.back().step);
    longest_.pop_back();
  }
  longest_.push_back({step, before_s});
  std::push_heap(longest_.begin(), longest_.end(), is_longer);
}

void StepOverviewFold::leave_out(const Step& step) {
  overview_.most_covered = std::max(overview_.most_covered, step.covers);
  overview_.longest_s = std::max(overview_.longest_s, step.duration_s.value_or(0));
  const auto mean_s = step.mean_s();
  if (!mean_s) return;
  const auto covers = static_cast<double>(step.covers);
  const double input_s = step.input_wait_s.value_or(0) * covers;
  overview_.input_s += input_s;
  overview_.rest_s += std::max(0.0, *mean_s * covers - input_s);
}

StepOverview StepOverviewFold::finish(const Survey& survey) {
  std::vector<StepOverview::Kept>& kept = overview_.kept;
  for (size_t i = 0; i < kept.size(); ++i) {
    if (survey.is_warmup[i]) kept[i].step.kind = "warmup";
  }
  std::sort(longest_.begin(), longest_.end(), [](const auto& a, const auto& b) {
    return a.step.time_s != b.step.time_s ? a.step.time_s < b.step.time_s
                                          : a.step.step < b.step.step;
  });
  kept.insert(kept.end(), std::make_move_iterator(longest_.begin()),
              std::make_move_iterator(longest_.end()));
  return std::move(overview_);
}

}  // namespace trainscope
