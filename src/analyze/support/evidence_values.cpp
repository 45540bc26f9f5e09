// Quantities that follow from several signals or from what the job reported.
#include <algorithm>

#include "analyze/support/evidence.h"

namespace trainscope {

std::optional<double> Evidence::others_cores() const {
  const auto machine = mean(Signal::machine_cores), job = mean(Signal::job_cores);
  if (!machine || !job || !are_others_seen_) return std::nullopt;
  const double known =
      *job + mean(Signal::recorder_cores).value_or(0) + mean(Signal::ranks_cores).value_or(0);
  return std::max(0.0, *machine - known);
}

std::optional<double> Evidence::unused_share() const {
  const auto job = mean(Signal::job_cores);
  if (!job) return std::nullopt;
  return std::clamp(1 - *job / cpus_, 0.0, 1.0);
}

std::optional<double> Evidence::idle_share() const {
  const auto machine = mean(Signal::machine_cores), unused = unused_share();
  if (!machine || !unused || !are_others_seen_) return unused;
  return std::clamp((seen_cpus_ - *machine) / cpus_, 0.0, *unused);
}

std::optional<double> Evidence::device_share() const {
  if (!uses_gpu_) return std::nullopt;
  const auto busy = mean(Signal::gpu_busy);
  return busy ? busy : mean(Signal::gpu_sm);
}

std::optional<double> Evidence::share(std::string_view part) const {
  return reported_->share(part, windows_.begin_s, windows_.end_s());
}

std::optional<double> Evidence::lost_input() const {
  return reported_->lost_input(windows_.begin_s, windows_.end_s());
}

double Evidence::long_steps_share() const {
  return reported_->long_steps_share(windows_.begin_s, windows_.end_s());
}

std::optional<double> Evidence::saving_share() const {
  return reported_->saving_share(windows_.begin_s, windows_.end_s());
}

Evidence Evidence::slice(size_t first_window, size_t count) const {
  Evidence part = *this;
  part.windows_ = {windows_.edge_s(first_window), windows_.length_s, count};
  for (Value& value : part.values_) {
    const auto begin = value.windows.begin() + static_cast<std::ptrdiff_t>(first_window);
    value.windows = {begin, begin + static_cast<std::ptrdiff_t>(count)};
    double sum = 0, known = 0;
    for (const auto& one : value.windows) {
      sum += one.value_or(0);
      known += one ? 1 : 0;
    }
    value.mean = known > 0 ? std::optional(sum / known) : std::nullopt;
  }
  const auto begin = workers_alive_.begin() + static_cast<std::ptrdiff_t>(first_window);
  part.count_workers({begin, begin + static_cast<std::ptrdiff_t>(count)});
  return part;
}

void Evidence::count_workers(const std::vector<int64_t>& alive) {
  workers_alive_ = alive;
  workers_ = alive.empty() ? 0 : *std::max_element(alive.begin(), alive.end());
}

}  // namespace trainscope
