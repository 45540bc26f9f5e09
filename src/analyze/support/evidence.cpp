#include "analyze/support/evidence.h"

#include <algorithm>
#include <map>
#include <set>

#include "analyze/analyze.h"
#include "analyze/support/reached_limits.h"
#include "base/json.h"
#include "base/text.h"
#include "model/training.h"

namespace trainscope {

extern const Analysis step_time_analysis;

namespace {

enum class Combine { sum, most, least };

// All sources of a metric read it in the same way.
struct Source {
  SignalSpec spec;
  std::string_view metric;
  std::vector<std::pair<std::string_view, std::string_view>> labels;  // "worker*" is a prefix
  Reading reading;
  Combine combine;
  std::string_view own = {};  // the same of the job's own cgroup, better where it is recorded
};

constexpr double kLeastWindowS = 2;
constexpr size_t kMostWindows = 120;

const std::vector<Source>& sources() {
  using enum Signal;
  static const std::vector<Source> kSources = {
      {{job_cores, "CPU of the job"}, "job.cpu.time", {}, Reading::rate, Combine::sum},
      {{kernel_cores, "CPU of the job in the kernel"},
       "job.cpu.time",
       {{"mode", "system"}},
       Reading::rate,
       Combine::sum},
      {{machine_cores, "CPU of the machine"},
       "system.cpu.time",
       {{"cpu", "all"}, {"state", "user|nice|system|irq|softirq"}},
       Reading::rate,
       Combine::sum},
      {{recorder_cores, "CPU of Trainscope"}, "recorder.cpu.time", {}, Reading::rate, Combine::sum},
      {{steal_cores, "CPU taken by the hypervisor"},
       "system.cpu.time",
       {{"cpu", "all"}, {"state", "steal"}},
       Reading::rate,
       Combine::sum},
      {{cpu_pressure, "time in which tasks waited for a CPU"},
       "system.pressure.time",
       {{"resource", "cpu"}, {"kind", "some"}},
       Reading::rate,
       Combine::sum},
      {{io_pressure, "time in which tasks waited for storage"},
       "system.pressure.time",
       {{"resource", "io"}, {"kind", "some"}},
       Reading::rate,
       Combine::sum,
       "cgroup.pressure.time"},
      {{memory_pressure, "time in which tasks waited for memory"},
       "system.pressure.time",
       {{"resource", "memory"}, {"kind", "some"}},
       Reading::rate,
       Combine::sum,
       "cgroup.pressure.time"},
      {{throttled, "time in which the CPU limit stopped the job"},
       "cgroup.cpu.throttled_time",
       {},
       Reading::rate,
       Combine::sum},
      {{read_bytes, "reads of the job"},
       "job.io.bytes",
       {{"direction", "read"}},
       Reading::rate,
       Combine::sum},
      {{read_calls, "read calls of the job"},
       "job.io.calls",
       {{"direction", "read"}},
       Reading::rate,
       Combine::sum},
      {{disk_read_bytes, "reads from storage"},
       "job.disk.io",
       {{"direction", "read"}},
       Reading::rate,
       Combine::sum},
      {{disk_write_bytes, "writes to storage"},
       "job.disk.io",
       {{"direction", "write"}},
       Reading::rate,
       Combine::sum},
      {{major_faults, "pages read back from storage"},
       "job.paging.faults",
       {{"type", "major"}},
       Reading::rate,
       Combine::sum},
      {{swap_bytes, "swapping"}, "system.swap.io", {}, Reading::rate, Combine::sum},
      {{network_bytes, "received from the network"},
       "system.network.io",
       {{"direction", "receive"}},
       Reading::rate,
       Combine::sum},
      {{main_running, "main thread running"},
       "job.thread.time",
       {{"role", "main"}, {"state", "running"}},
       Reading::rate,
       Combine::sum},
      {{main_runnable, "main thread waiting for a CPU"},
       "job.thread.time",
       {{"role", "main"}, {"state", "runnable"}},
       Reading::rate,
       Combine::sum},
      {{main_blocked, "main thread blocked"},
       "job.thread.time",
       {{"role", "main"}, {"state", "blocked"}},
       Reading::rate,
       Combine::sum},
      {{main_on_disk, "main thread blocked on storage"},
       "job.thread.blocked",
       {{"role", "main"}, {"on", "disk"}},
       Reading::rate,
       Combine::sum},
      {{other_running, "busiest other thread running"},
       "job.thread.time",
       {{"role", "busiest"}, {"state", "running"}},
       Reading::rate,
       Combine::sum},
      {{worker_most, "busiest worker running"},
       "job.thread.time",
       {{"role", "worker*"}, {"state", "running"}},
       Reading::rate,
       Combine::most},
      {{worker_least, "least busy worker running"},
       "job.thread.time",
       {{"role", "worker*"}, {"state", "running"}},
       Reading::rate,
       Combine::least},
      {{gpu_busy, "GPU utilization"}, "hw.gpu.utilization", {}, Reading::level, Combine::most},
      {{gpu_sm, "GPU multiprocessors active"},
       "hw.gpu.sm_active",
       {},
       Reading::level,
       Combine::most},
      {{gpu_tensor, "tensor cores active"},
       "hw.gpu.tensor_active",
       {},
       Reading::level,
       Combine::most},
      {{gpu_memory, "GPU memory interface active"},
       "hw.gpu.dram_active",
       {},
       Reading::level,
       Combine::most},
      {{gpu_copied, "copied to the GPU"},
       "hw.gpu.pcie.io",
       {{"direction", "receive"}},
       Reading::rate,
       Combine::most},
      {{gpu_job_bytes, "GPU memory of the job"},
       "job.gpu.memory.usage",
       {},
       Reading::level,
       Combine::sum},
      {{gpu_throttled_heat, "GPU slowed down by heat"},
       "hw.gpu.throttle.time",
       {{"reason", "*thermal*"}},
       Reading::rate,
       Combine::most},
      {{gpu_throttled_power, "GPU slowed down by its power limit"},
       "hw.gpu.throttle.time",
       {{"reason", "*power*"}},
       Reading::rate,
       Combine::most},
  };
  return kSources;
}

// "a|b" is one of them, "a*" begins with a, "*a*" contains a.
bool matches(std::string_view value, std::string_view pattern) {
  for (const std::string_view one : split(pattern, '|')) {
    if (one.size() > 2 && one.front() == '*' && one.back() == '*') {
      if (value.find(one.substr(1, one.size() - 2)) != value.npos) return true;
    } else if (one.ends_with('*')) {
      if (value.starts_with(one.substr(0, one.size() - 1))) return true;
    } else if (value == one) {
      return true;
    }
  }
  return false;
}

bool has_labels(const Series& series,
                const std::vector<std::pair<std::string_view, std::string_view>>& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const auto& label) {
    return std::any_of(series.labels.begin(), series.labels.end(), [&](const auto& own) {
      return own.first == label.first && matches(own.second, label.second);
    });
  });
}

bool is_of(const Series& series, std::string_view metric,
           const std::vector<std::pair<std::string_view, std::string_view>>& labels) {
  return series.metric == metric && series.status != SeriesStatus::absent &&
         has_labels(series, labels);
}

std::string_view metric_of(const Source& source, const std::vector<Series>& all) {
  const bool has_own = std::any_of(all.begin(), all.end(), [&](const Series& series) {
    return is_of(series, source.own, source.labels);
  });
  return has_own ? source.own : source.metric;
}

void combine(std::optional<double>& all, const std::optional<double>& one, Combine how) {
  if (!one) return;
  if (!all) {
    all = one;
  } else if (how == Combine::sum) {
    *all += *one;
  } else {
    all = how == Combine::most ? std::max(*all, *one) : std::min(*all, *one);
  }
}

// A series, and the sources that read it, if any.
struct WantedSeries {
  size_t place = 0;  // in recorded_series()
  std::vector<const Source*> readers;
};

std::vector<WantedSeries> wanted_series(const std::vector<Series>& series) {
  std::map<size_t, std::vector<const Source*>> readers;
  for (const Source& source : sources()) {
    const std::string_view metric = metric_of(source, series);
    for (size_t i = 0; i < series.size(); ++i) {
      if (is_of(series[i], metric, source.labels)) readers[i].push_back(&source);
    }
  }
  // All states of a role, to know how long it lived.
  for (size_t i = 0; i < series.size(); ++i) {
    if (is_of(series[i], "job.thread.time", {})) readers.try_emplace(i);
  }
  std::vector<WantedSeries> wanted;
  for (auto& [place, all] : readers) wanted.push_back({place, std::move(all)});
  return wanted;
}

std::string label_of(const Series& series, std::string_view name) {
  for (const auto& [key, value] : series.labels) {
    if (key == name) return value;
  }
  return "";
}

// Some readings of a run, side by side.
struct Readings {
  const std::vector<Series>& series;
  const std::vector<WantedSeries>& wanted;
  const std::vector<WindowFold>& folds;

  // Those in which the job has memory; empty: unknown.
  std::set<std::string> gpus_of_job() const {
    std::set<std::string> gpus;
    for (size_t i = 0; i < wanted.size(); ++i) {
      const Series& each = series[wanted[i].place];
      if (each.metric != "job.gpu.memory.usage" || !(folds[i].mean().value_or(0) > 0)) continue;
      if (const std::string gpu = label_of(each, "gpu"); !gpu.empty()) gpus.insert(gpu);
    }
    return gpus;
  }

  // Seconds per second of a role: more than 1 if what it did before its first row is in a later
  // one.
  std::map<std::string, double> excess_of_roles() const {
    std::map<std::string, double> total;
    for (size_t i = 0; i < wanted.size(); ++i) {
      const Series& each = series[wanted[i].place];
      if (each.metric != "job.thread.time") continue;
      total[label_of(each, "role")] += folds[i].mean().value_or(0);
    }
    for (auto& [role, seconds] : total) seconds = std::max(1.0, seconds);
    return total;
  }
};

std::optional<double> divided(const std::optional<double>& value, double by) {
  return value ? std::optional<double>(*value / by) : std::nullopt;
}

TimeWindows divide(double begin_s, double end_s) {
  const double length_s = std::max(end_s - begin_s, 1e-3);
  const auto count =
      std::clamp(static_cast<size_t>(length_s / kLeastWindowS), size_t{1}, kMostWindows);
  return {begin_s, length_s / static_cast<double>(count), count};
}

}  // namespace

std::string_view signal_metric(Signal signal) {
  return sources()[static_cast<size_t>(signal)].metric;
}

std::string_view signal_unit(Signal signal) {
  const std::string_view metric = signal_metric(signal);
  if (metric.ends_with("cpu.time")) return "cores";
  if (metric.ends_with(".io") || metric == "job.io.bytes") return "By/s";
  if (metric == "job.io.calls" || metric.ends_with("faults")) return "/s";
  return metric.ends_with("memory.usage") ? "" : "%";
}

const SignalSpec& signal_spec(Signal signal) { return sources()[static_cast<size_t>(signal)].spec; }

Result<Evidence> Evidence::of(const RunView& run, const MachineLimits* limits) {
  Evidence evidence;
  TS_CHECK_OK(evidence.read_training(run));
  TS_CHECK_OK(evidence.read_signals(run));
  evidence.read_cpus(run);
  if (limits != nullptr) {
    TS_TRY(evidence.limits_, reached_limits(run, evidence, *limits));
  }
  return evidence;
}

// From the begin of the first step to the end of the last; the whole run if there are none.
Status Evidence::read_training(const RunView& run) {
  const Training& training = run.training();
  windows_ = divide(0, run.duration_s());
  if (training.observed == 0 || !training.details) return {};
  steps_ = training.count.value_or(training.observed);
  startup_s_ = std::min(run.duration_s(), training.begin_s);
  if (training.end_s > startup_s_) windows_ = divide(startup_s_, training.end_s);
  TS_TRY(step_time_, step_time_analysis.analyze(run));
  has_phases_ = training.has_input_phases || training.has_compute_phases;
  for (const BreakdownPart& part : step_time_.breakdown) shares_[part.part] = part.share;
  if (has_phases_) shares_.try_emplace("input", 0);
  dry_share_ = training.device_waits.dry_share();
  lost_input_ = training.device_waits.lost_share();
  for (const auto& [name, time_s] : phase_times(training)) {
    shares_.try_emplace(name, std::min(1.0, time_s / training_s()));
  }
  if (const auto step_s = training.statistics.mean_s;
      step_s && !shares_.contains("communication")) {
    TS_TRY(const auto communication_s, ddp_communication_s(training));
    if (communication_s) shares_["communication"] = std::min(1.0, *communication_s / *step_s);
  }
  TS_TRY(long_steps_, find_long_steps(run, step_time_.pauses, windows_.begin_s, windows_.end_s()));
  return {};
}

Status Evidence::read_signals(const RunView& run) {
  const std::vector<WantedSeries> wanted = wanted_series(run.recorded_series());
  std::vector<WindowQuery> queries;
  for (const WantedSeries& each : wanted) {
    const bool is_read = !each.readers.empty();
    queries.push_back({each.place, is_read ? each.readers.front()->reading : Reading::rate});
  }
  TS_TRY(const std::vector<WindowFold> folds, run.fold_windows(queries, windows_));
  const Readings readings{run.recorded_series(), wanted, folds};
  const std::set<std::string> gpus = readings.gpus_of_job();
  std::map<std::string, double> excess = readings.excess_of_roles();
  for (Value& value : values_) value.windows.resize(windows_.count);
  for (size_t i = 0; i < wanted.size(); ++i) {
    const Series& series = readings.series[wanted[i].place];
    const bool is_of_gpu = series.metric.starts_with("hw.gpu.");
    if (is_of_gpu && !gpus.empty() && !gpus.contains(label_of(series, "gpu"))) continue;
    const auto role = excess.find(label_of(series, "role"));
    const double by = role == excess.end() ? 1 : role->second;
    for (const Source* source : wanted[i].readers) {
      Value& value = values_[index(source->spec.signal)];
      combine(value.mean, divided(folds[i].mean(), by), source->combine);
      for (size_t w = 0; w < windows_.count; ++w) {
        combine(value.windows[w], folds[i].at(w), source->combine);
      }
      workers_ += source->spec.signal == Signal::worker_most && folds[i].mean() ? 1 : 0;
    }
  }
  return {};
}

// CPUs that the job may use: those that it was given, not those of the machine.
void Evidence::read_cpus(const RunView& run) {
  const Json host = parse_json(run.host_json());
  auto given = number_field(host, "job_cpus");
  if (!given) given = number_field(host, "threads");
  if (given && *given > 0) cpus_ = machine_cpus_ = *given;
  if (const auto threads = number_field(host, "threads"); threads && *threads > 0) {
    machine_cpus_ = *threads;
  }
}

}  // namespace trainscope
