// What a run knows about where its time went: a few quantities, each over the whole training and
// window by window. Rules read only this.
//
// Guarantees: a quantity that was not recorded has no value. All series are read together
// (RunView::fold_windows), so memory does not grow with the length of the run.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/support/reported.h"
#include "base/result.h"
#include "model/finding.h"
#include "model/limits.h"
#include "model/model.h"

namespace trainscope {

enum class Signal : size_t {
  job_cores,
  kernel_cores,
  machine_cores,
  recorder_cores,
  steal_cores,
  cpu_pressure,
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
  other_running,
  worker_most,
  worker_least,
  gpu_busy,
  gpu_sm,
  gpu_tensor,
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

class Evidence {
 public:
  // `limits` of the run's machine; null: unknown.
  static Result<Evidence> of(const RunView& run, const MachineLimits* limits = nullptr);

  // Over the time that is judged: a rate per second of a counter, the mean of a gauge.
  std::optional<double> mean(Signal signal) const { return values_[index(signal)].mean; }
  // The same in each window.
  const std::vector<std::optional<double>>& by_window(Signal signal) const {
    return values_[index(signal)].windows;
  }
  const TimeWindows& windows() const { return windows_; }

  double cpus() const { return cpus_; }  // that the job may use
  double machine_cpus() const { return machine_cpus_; }
  int64_t workers() const { return workers_; }
  // CPU time of strangers, in cores.
  std::optional<double> others_cores() const;
  // Share of the CPUs that the job may use: which it leaves idle, and in which nobody computes.
  std::optional<double> unused_share() const;
  std::optional<double> idle_share() const;
  bool uses_gpu() const;

  bool has_steps() const { return steps_ > 0; }
  int64_t steps() const { return steps_; }
  double startup_s() const { return startup_s_; }  // before the first step
  double training_s() const { return windows_.end_s() - windows_.begin_s; }
  // Shares of the training's time that the job reported; empty: it reported none of that kind.
  std::optional<double> share(std::string_view part) const;
  // Of waiting for data, what a device had to wait for too: all of it where devices are unknown.
  std::optional<double> lost_input() const;
  // Share of the steps before which a device had nothing left to do; empty: unknown.
  std::optional<double> dry_share() const { return dry_share_; }
  const LongSteps& long_steps() const { return long_steps_; }
  bool has_phases() const { return has_phases_; }
  const AnalysisResult& step_time() const { return step_time_; }
  // analyze/support/reached_limits.h
  const std::vector<ReachedLimit>& limits() const { return limits_; }

 private:
  struct Value {
    std::optional<double> mean;
    std::vector<std::optional<double>> windows;
  };
  static size_t index(Signal signal) { return static_cast<size_t>(signal); }

  Status read_training(const RunView& run);
  Status read_signals(const RunView& run);
  void read_cpus(const RunView& run);

  std::array<Value, static_cast<size_t>(Signal::count)> values_;
  TimeWindows windows_;
  double cpus_ = 1, machine_cpus_ = 1, startup_s_ = 0;
  int64_t workers_ = 0, steps_ = 0;
  bool has_phases_ = false;
  AnalysisResult step_time_;
  std::optional<double> dry_share_, lost_input_;
  LongSteps long_steps_;
  std::map<std::string, double, std::less<>> shares_;
  std::vector<ReachedLimit> limits_;
};

}  // namespace trainscope
