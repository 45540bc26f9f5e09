#include "training/step_track.h"

#include <cmath>
#include <utility>

namespace trainscope {

namespace {

constexpr double kLongestStepS = 1e9;  // 32 years: no step takes longer

void take_finite(std::optional<double>& to, const std::optional<double>& from) {
  if (from && std::isfinite(*from)) to = from;
}

void set_number(Step& step, const std::string& name, double value) {
  for (auto& [known, last] : step.numbers) {
    if (known != name) continue;
    last = value;
    return;
  }
  step.numbers.emplace_back(name, value);
}

}  // namespace

std::optional<Step> StepTrack::add(double time_s, const Report& report,
                                   std::optional<double> items) {
  const StepCounter::Outcome outcome = counter_.add(report);
  if (outcome == StepCounter::Outcome::nothing) return std::nullopt;
  std::optional<Step> ended;
  if (outcome == StepCounter::Outcome::next_step) {
    ended = std::exchange(step_, Step());
    repeated_names_.clear();
    step_->step = counter_.step();
    step_->time_s = time_s;
    step_->covers = counter_.covers();
    step_->reported_number = report.number;
    const auto counted = items_since_last(report);
    step_->items = counted ? counted : items;
  }
  merge(report, outcome == StepCounter::Outcome::same_step);
  return ended;
}

bool StepTrack::has_space_for(const std::string& name, bool is_repeated) {
  if (!is_repeated || repeated_names_.contains(name)) return true;
  if (repeated_names_.size() == kMaxRepeatedNames) {
    ++left_out_;
    return false;
  }
  repeated_names_.insert(name);
  return true;
}

// Nothing for the first report of an epoch.
std::optional<double> StepTrack::items_since_last(const Report& report) {
  const auto item = report.find("item");
  if (!item) return std::nullopt;
  const auto before = std::exchange(last_item_, item);
  return before && *item > *before ? std::optional(*item - *before) : std::nullopt;
}

std::optional<Step> StepTrack::finish() { return std::exchange(step_, std::nullopt); }

void StepTrack::merge(const Report& report, bool is_repeated) {
  take_finite(step_->epoch, report.find("epoch"));
  for (const auto& [name, value] : report.numbers) {
    if (!std::isfinite(value) || is_place_in_training(name) || name == "throughput") continue;
    if (name == names_.loss) {
      step_->loss = value;
    } else if (name == names_.accuracy) {
      step_->accuracy = value;
    } else {
      if (name == "dry") step_->dry = value;
      if (name == "timed") step_->timed = value;
      const bool has_space = has_space_for(name, is_repeated);
      if (has_space && numbers_ == StepNumbers::present) set_number(*step_, name, value);
    }
  }
  take_finite(step_->throughput, report.find("throughput"));
  const auto duration_s = report.find("duration");
  if (duration_s && *duration_s >= 0 && *duration_s <= kLongestStepS) {
    step_->duration_s = duration_s;
  }
}

}  // namespace trainscope
