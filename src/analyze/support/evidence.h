// What a run knows about where its time went: a few quantities, each over the whole training and
// window by window. Rules read only this.
//
// Guarantees: a quantity that was not recorded has no value. All series are read together
// (RunView::fold_windows), so memory does not grow with the length of the run.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/support/advice.h"
#include "analyze/support/reported_time.h"
#include "analyze/support/signals.h"
#include "base/result.h"
#include "model/finding.h"
#include "model/limits.h"
#include "model/model.h"

namespace trainscope {

class Evidence {
 public:
  // `limits` of the run's machine; null: unknown.
  static Result<Evidence> of(const RunView& run, const MachineLimits* limits = nullptr);
  // The same of some windows only.
  Evidence slice(size_t first_window, size_t count) const;
  // The signals of any other time of the run, in one window.
  Result<Evidence> of_time(const RunView& run, double from_s, double to_s) const;

  // Over the time that is judged: a rate per second of a counter, the mean of a gauge.
  std::optional<double> mean(Signal signal) const { return values_[index(signal)].mean; }
  // The same in each window.
  const std::vector<std::optional<double>>& by_window(Signal signal) const {
    return values_[index(signal)].windows;
  }
  // Between two samples of it, of the series that is sampled most seldom; 0: unknown.
  double period_s(Signal signal) const { return values_[index(signal)].period_s; }
  const TimeWindows& windows() const { return windows_; }

  double cpus() const { return cpus_; }  // that the job may use
  // Whose CPU time is seen: those of the job's affinity mask, or all of the machine.
  double seen_cpus() const { return seen_cpus_; }
  // Loading workers that were alive at the same time; `kMostWorkers`: perhaps more.
  int64_t workers() const { return workers_; }
  static constexpr int64_t kMostWorkers = 16;
  // CPU time of strangers on these CPUs, in cores.
  std::optional<double> others_cores() const;
  // Share of the CPUs that the job may use: which it leaves idle, and in which nobody computes.
  std::optional<double> unused_share() const;
  std::optional<double> idle_share() const;
  bool uses_gpu() const { return uses_gpu_; }
  // Share of the time in which a GPU of the job computes; empty: it has none, or it is unknown.
  std::optional<double> device_share() const;
  // Of the job's own control group, and not of the whole machine.
  bool is_own(Signal signal) const { return own_.contains(signal); }

  double training_s() const { return windows_.end_s() - windows_.begin_s; }
  const ReportedTime& reported() const { return *reported_; }
  bool has_phases() const { return reported_->has_phases(); }
  bool knows_input() const { return reported_->knows_input(); }
  // Shares of the time that the job reported; empty: it reported none of that kind.
  std::optional<double> share(std::string_view part) const;
  // Of waiting for data, what a device had to wait for too: all of it where devices are unknown.
  std::optional<double> lost_input() const;
  // Of the time, beyond the usual duration of a step, in steps whose length no phase explains.
  double long_steps_share() const;
  std::optional<double> saving_share() const;

  Framework framework() const { return framework_; }
  // analyze/support/reached_limits.h
  const std::vector<ReachedLimit>& limits() const { return limits_; }

 private:
  struct Value {
    std::optional<double> mean;
    std::vector<std::optional<double>> windows;
    double period_s = 0;
  };
  static size_t index(Signal signal) { return static_cast<size_t>(signal); }

  Status read_signals(const RunView& run);
  void read_cpus(const RunView& run);
  void count_workers(const std::vector<int64_t>& alive);

  std::array<Value, static_cast<size_t>(Signal::count)> values_;
  TimeWindows windows_;
  double cpus_ = 1, seen_cpus_ = 1;
  bool are_others_seen_ = true, uses_gpu_ = false;
  std::string cpu_pattern_ = "all";  // of the label `cpu`
  int64_t workers_ = 0;
  std::vector<int64_t> workers_alive_;  // by window
  std::set<Signal> own_;
  Framework framework_ = Framework::unknown;
  std::shared_ptr<const ReportedTime> reported_;
  std::vector<ReachedLimit> limits_;
};

}  // namespace trainscope
