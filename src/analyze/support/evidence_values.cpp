// Quantities that follow from several signals.
#include <algorithm>

#include "analyze/support/evidence.h"

namespace trainscope {

std::optional<double> Evidence::others_cores() const {
  const auto machine = mean(Signal::machine_cores), job = mean(Signal::job_cores);
  if (!machine || !job) return std::nullopt;
  return std::max(0.0, *machine - *job - mean(Signal::recorder_cores).value_or(0));
}

std::optional<double> Evidence::unused_share() const {
  const auto job = mean(Signal::job_cores);
  if (!job) return std::nullopt;
  return std::clamp(1 - *job / cpus_, 0.0, 1.0);
}

std::optional<double> Evidence::idle_share() const {
  const auto machine = mean(Signal::machine_cores), unused = unused_share();
  if (!machine || !unused) return unused;
  return std::clamp((machine_cpus_ - *machine) / cpus_, 0.0, *unused);
}

// In a container the driver does not tell whose memory it is: then a GPU that works is the job's.
bool Evidence::uses_gpu() const {
  if (const auto bytes = mean(Signal::gpu_job_bytes)) return *bytes > 0;
  return mean(Signal::gpu_busy).value_or(0) > 0.02;
}

std::optional<double> Evidence::share(std::string_view part) const {
  const auto found = shares_.find(part);
  if (found == shares_.end()) return std::nullopt;
  return found->second;
}

std::optional<double> Evidence::lost_input() const {
  return has_phases_ && lost_input_ ? lost_input_ : share("input");
}

}  // namespace trainscope
