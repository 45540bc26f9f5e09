// The quantities that rules read, and which series they are made of.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/metric.h"
#include "model/window_fold.h"

namespace trainscope {

enum class Signal : size_t {
  job_cores,
  kernel_cores,
  machine_cores,
  recorder_cores,
  ranks_cores,
  steal_cores,
  cpu_pressure,
  cpu_held_up,
  io_pressure,
  memory_pressure,
  throttled,
  read_bytes,
  read_calls,
  disk_read_bytes,
  disk_write_bytes,
  major_faults,
  swap_bytes,
  network_bytes,
  main_running,
  main_runnable,
  main_blocked,
  main_on_disk,
  main_delayed,
  other_running,
  worker_most,
  worker_least,
  worker_delayed,
  gpu_busy,
  gpu_sm,
  gpu_tensor,
  gpu_fp32,
  gpu_memory,
  gpu_copied,
  gpu_job_bytes,
  gpu_throttled_heat,
  gpu_throttled_power,
  count
};

struct SignalSpec {
  Signal signal;
  std::string_view name;  // for people: "main thread running"
};
const SignalSpec& signal_spec(Signal signal);
std::string_view signal_metric(Signal signal);
std::string_view signal_unit(Signal signal);  // as Diagnosis::Seen::unit

enum class Combine { sum, most, least };

// Names of labels and patterns for their values: "a|b" is one of them, "a*" begins with a, "*a*"
// contains a, "!a" is another one.
using WantedLabels = std::vector<std::pair<std::string_view, std::string_view>>;

// All sources of a metric read it in the same way.
struct SignalSource {
  SignalSpec spec;
  std::string_view metric;
  WantedLabels labels;
  Reading reading;
  Combine combine;
  std::string_view own = {};  // the same of the job's own cgroup, better where it is recorded
};
// One per signal, in the order of Signal.
const std::vector<SignalSource>& signal_sources();

// "0,2-3" as a pattern for labels: "0|2|3"; "" if it is not a list of CPUs.
std::string cpu_pattern(std::string_view list);

// Is this a recorded series of the metric with these labels?
bool is_of(const Series& series, std::string_view metric, const WantedLabels& labels);

}  // namespace trainscope
