#include "model/training.h"

#include <algorithm>
#include <cmath>

namespace trainscope {

namespace {

// The smallest value that at least this share of all is not above; `sorted` is not empty.
double quantile(const std::vector<double>& sorted, double share) {
  const auto rank = static_cast<size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::min(sorted.size(), std::max<size_t>(1, rank)) - 1];
}

}  // namespace

int64_t Training::warmup_steps() const {
  int64_t count = 0;
  for (const Step& step : steps) {
    if (step.kind == "warmup") count += step.covers;
  }
  return count;
}

StepStatistics step_statistics(const Training& training) {
  StepStatistics statistics;
  std::vector<double> durations, told;
  double time_s = 0, steps = 0;
  for (const Step& step : training.steps) {
    if (!step.duration_s || step.kind == "warmup") continue;
    const auto covers = static_cast<double>(step.covers);
    durations.push_back(*step.duration_s);
    if (step.throughput) told.push_back(*step.throughput);
    time_s += *step.duration_s * covers;
    steps += covers;
  }
  if (durations.empty()) return statistics;
  std::sort(durations.begin(), durations.end());
  statistics.mean_s = time_s / steps;
  statistics.p50_s = quantile(durations, 0.5);
  statistics.p99_s = quantile(durations, 0.99);
  if (training.batch && time_s > 0) {
    statistics.throughput = *training.batch * steps / time_s;
  } else if (!told.empty()) {
    double sum = 0;
    for (const double each : told) sum += each;
    statistics.throughput = sum / static_cast<double>(told.size());
  }
  return statistics;
}

}  // namespace trainscope
