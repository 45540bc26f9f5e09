#include "training/step_track.h"

#include <cmath>
#include <utility>

namespace trainscope {

namespace {

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

std::optional<Step> StepTrack::add(double time_s, const Report& report,
                                   std::optional<double> items) {
  const StepCounter::Outcome outcome = counter_.add(report);
  if (outcome == StepCounter::Outcome::nothing) return std::nullopt;
  std::optional<Step> ended;
  if (outcome == StepCounter::Outcome::next_step) {
    ended = std::exchange(step_, Step());
    step_->step = counter_.step();
    step_->time_s = time_s;
    step_->covers = counter_.covers();
    step_->items = items;
  }
  merge(report);
  return ended;
}

std::optional<Step> StepTrack::finish() { return std::exchange(step_, std::nullopt); }

void StepTrack::merge(const Report& report) {
  if (!report.set.empty() && report.set != "train") return;
  take_finite(step_->loss, report.find("loss"));
  take_finite(step_->accuracy, accuracy_of(report));
  take_finite(step_->throughput, report.find("throughput"));
  const auto duration_s = report.find("duration");
  if (duration_s && *duration_s >= 0) take_finite(step_->duration_s, duration_s);
}

}  // namespace trainscope
