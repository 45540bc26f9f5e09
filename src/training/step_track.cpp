#include "training/step_track.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/statistics.h"

namespace trainscope {

namespace {

constexpr double kWarmupFactor = 2;
constexpr size_t kMaxWarmup = 10;
constexpr double kMaxEpochLength = 1e12;

void take_finite(std::optional<double>& to, const std::optional<double>& from) {
  if (from && std::isfinite(*from)) to = from;
}

std::optional<double> accuracy_of(const Report& report) {
  for (const auto& [name, value] : report.numbers) {
    if (is_accuracy(name) && !name.starts_with("val_")) return value;
  }
  return std::nullopt;
}

}  // namespace

bool is_place(std::string_view name) {
  return name == "epoch" || name == "of" || name == "step" || name == "duration" ||
         name == "item" || name == "items";
}

bool StepTrack::begins_epoch(const Numbered& now) const {
  if (now.number < last_.number) return true;
  // The same number again is the same step told twice, but in another epoch.
  const bool other_epoch = now.epoch && last_.epoch && *now.epoch != *last_.epoch;
  return other_epoch && now.number <= last_.number;
}

// Nothing for the first report of an epoch.
std::optional<double> StepTrack::items_since_last(const Report& report) {
  const auto item = report.find("item");
  if (!item) return std::nullopt;
  const auto before = std::exchange(last_item_, item);
  return before && *item > *before ? std::optional(*item - *before) : std::nullopt;
}

void StepTrack::add(double time_s, const Report& report, std::optional<double> items) {
  Numbered now{0, report.find("epoch"), report.find("of")};
  if (now.of && !(*now.of >= 1 && *now.of <= kMaxEpochLength)) now.of.reset();
  now.number = report.number.value_or(steps_.empty() ? 1 : last_.number + 1);
  if (now.of && now.number == 0) return;  // "0 of 100": nothing is done yet
  if (steps_.empty()) {
    first_number_ = now.number;
    knows_length_ = now.of.has_value();
  } else if (begins_epoch(now)) {
    // 1 … 57, 50: a job that went back to its checkpoint does those steps once more.
    const bool resumed = !now.of && now.number > std::max(gap_, first_number_);
    const int64_t from_zero = first_number_ == 0 ? 1 : 0;
    if (resumed) {
      offset_ = steps_.back().step + 1 - now.number;
    } else {
      offset_ += last_.of ? std::llround(*last_.of) : last_.number + from_zero;
    }
  } else if (now.number == last_.number) {
    merge(report);
    return;
  }
  Step step;
  step.step = offset_ + now.number;
  step.time_s = time_s;
  step.kind = "step";
  const auto counted = items_since_last(report);
  step.items = counted ? counted : items;
  if (!steps_.empty()) step.covers = std::max<int64_t>(1, step.step - steps_.back().step);
  if (!steps_.empty() && now.number > last_.number) gap_ = now.number - last_.number;
  steps_.push_back(std::move(step));
  last_ = now;
  merge(report);
}

void StepTrack::merge(const Report& report) {
  Step& step = steps_.back();
  if (!report.set.empty() && report.set != "train") return;
  take_finite(step.loss, report.find("loss"));
  take_finite(step.accuracy, accuracy_of(report));
  take_finite(step.throughput, report.find("throughput"));
  const auto duration_s = report.find("duration");
  if (duration_s && *duration_s >= 0) take_finite(step.duration_s, duration_s);
}

void StepTrack::merge_from(const StepTrack& other) {
  std::map<int64_t, const Step*> known;
  for (const Step& step : other.steps_) known[step.step] = &step;
  for (Step& step : steps_) {
    const auto found = known.find(step.step);
    if (found == known.end()) continue;
    if (!step.loss) step.loss = found->second->loss;
    if (!step.accuracy) step.accuracy = found->second->accuracy;
  }
}

// Between two reports, as a rule: every step, or every hundredth.
int64_t StepTrack::interval() const {
  std::vector<int64_t> all;
  for (size_t i = 1; i < steps_.size(); ++i) all.push_back(steps_[i].step - steps_[i - 1].step);
  return all.empty() ? 1 : middle_of(std::move(all));
}

std::vector<Step> StepTrack::take_steps() {
  const bool from_first = knows_length_ || first_number_ == interval();
  std::vector<Step> steps = std::move(steps_);
  if (!steps.empty() && from_first) steps[0].covers = std::max<int64_t>(1, first_number_);
  return steps;
}

std::optional<int64_t> StepTrack::count() const {
  if (steps_.empty()) return std::nullopt;
  const int64_t last = steps_.back().step;
  if (knows_length_) return last;
  // 10, 20, 30: thirty steps. 500, 501, 502: a job that was resumed, three steps.
  const int64_t usual = interval();
  if (first_number_ > 1 && first_number_ + 1 == usual)
    return last + 1;  // 9, 19, 29: counted from 0
  const bool counts_from_start = first_number_ == 1 || first_number_ == usual;
  return counts_from_start ? last : last - first_number_ + 1;
}

std::optional<double> median_duration_s(const std::vector<Step>& steps) {
  std::vector<double> all;
  for (const Step& step : steps) {
    if (step.duration_s) all.push_back(*step.duration_s);
  }
  if (all.empty()) return std::nullopt;
  return middle_of(std::move(all));
}

void mark_warmup(std::vector<Step>& steps) {
  const auto typical = median_duration_s(steps);
  if (!typical || steps.size() < 4) return;
  for (size_t i = 0; i < std::min(steps.size(), kMaxWarmup); ++i) {
    Step& step = steps[i];
    if (!step.duration_s && i == 0) continue;
    const double more = step.duration_s.value_or(0) - *typical;
    const bool long_one = step.duration_s && *step.duration_s > kWarmupFactor * *typical;
    if (!long_one || step.input_wait_s.value_or(0) > more / 2) return;
    step.kind = "warmup";
  }
}

}  // namespace trainscope
