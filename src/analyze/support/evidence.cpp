#include "analyze/support/evidence.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "analyze/analyze.h"
#include "analyze/support/reached_limits.h"
#include "base/json.h"
#include "base/text.h"
#include "model/training.h"

namespace trainscope {

extern const Analysis step_time_analysis;

namespace {

enum class Reading { rate, level };  // of a counter per second; mean of a gauge
enum class Combine { sum, most, least };

struct Source {
  SignalSpec spec;
  std::string_view metric;
  std::vector<std::pair<std::string_view, std::string_view>> labels;  // "worker*" is a prefix
  Reading reading;
  Combine combine;
};

constexpr double kLeastWindowS = 2;
constexpr size_t kMostWindows = 120;
constexpr size_t kMostNames = 64;

const std::vector<Source>& sources() {
  using enum Signal;
  static const std::vector<Source> kSources = {
      {{job_cores, "CPU of the job"}, "job.cpu.time", {}, Reading::rate, Combine::sum},
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
       Combine::sum},
      {{memory_pressure, "time in which tasks waited for memory"},
       "system.pressure.time",
       {{"resource", "memory"}, {"kind", "some"}},
       Reading::rate,
       Combine::sum},
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

// Sums of one series over the windows.
class Reduction {
 public:
  explicit Reduction(const Windows& windows)
      : windows_(windows), sum_(windows.count + 1), weight_(windows.count + 1) {}

  void add_rate(const Points& points) {
    bool has_last = false;
    double last_s = 0, last = 0;
    for (size_t i = 0; i < points.time_s.size(); ++i) {
      if (points.present[i] == 0) continue;
      const double time_s = points.time_s[i], value = points.value[i];
      if (has_last && time_s > last_s && value >= last) {
        add((last_s + time_s) / 2, value - last, time_s - last_s);
      }
      has_last = true;
      last_s = time_s;
      last = value;
    }
  }
  void add_level(const Points& points) {
    for (size_t i = 0; i < points.time_s.size(); ++i) {
      if (points.present[i] != 0) add(points.time_s[i], points.value[i], 1);
    }
  }

  std::optional<double> mean() const { return at(windows_.count); }
  std::optional<double> at(size_t window) const {
    if (!(weight_[window] > 0)) return std::nullopt;
    return sum_[window] / weight_[window];
  }

 private:
  void add(double time_s, double sum, double weight) {
    for (const size_t i : {windows_.at(time_s), windows_.count}) {
      sum_[i] += sum;
      weight_[i] += weight;
    }
  }

  const Windows& windows_;
  std::vector<double> sum_, weight_;  // the last is the whole
};

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

Result<Reduction> reduce(const RunView& run, size_t series, const Windows& windows,
                         Reading reading) {
  Reduction result(windows);
  // A range ends before its end.
  const double end_s = std::nextafter(windows.end_s(), std::numeric_limits<double>::infinity());
  TS_TRY(const Points points, run.points(series, {windows.begin_s, end_s}));
  if (reading == Reading::rate) {
    result.add_rate(points);
  } else {
    result.add_level(points);
  }
  return result;
}

Windows divide(double begin_s, double end_s) {
  const double length_s = std::max(end_s - begin_s, 1e-3);
  const auto count =
      std::clamp(static_cast<size_t>(length_s / kLeastWindowS), size_t{1}, kMostWindows);
  return {begin_s, length_s / static_cast<double>(count), count};
}

}  // namespace

const SignalSpec& signal_spec(Signal signal) { return sources()[static_cast<size_t>(signal)].spec; }

size_t Windows::at(double time_s) const {
  const double place = (time_s - begin_s) / length_s;
  if (!(place > 0)) return 0;
  return std::min(static_cast<size_t>(place), count - 1);
}

Result<std::optional<double>> mean_rate(const RunView& run, size_t series, const Windows& windows) {
  TS_TRY(const Reduction reduced, reduce(run, series, windows, Reading::rate));
  return reduced.mean();
}

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

std::optional<double> Evidence::others_cores() const {
  const auto machine = mean(Signal::machine_cores), job = mean(Signal::job_cores);
  if (!machine || !job) return std::nullopt;
  return std::max(0.0, *machine - *job - mean(Signal::recorder_cores).value_or(0));
}

bool Evidence::uses_gpu() const { return mean(Signal::gpu_job_bytes).value_or(0) > 0; }

std::optional<double> Evidence::share(std::string_view part) const {
  const auto found = shares_.find(part);
  if (found == shares_.end()) return std::nullopt;
  return found->second;
}

// From the begin of the first step to the end of the last; the whole run if there are none.
Status Evidence::read_training(const RunView& run) {
  const Training& training = run.training();
  windows_ = divide(0, run.duration_s());
  if (training.observed == 0 || !training.details) return {};
  steps_ = training.count.value_or(training.observed);
  double begin_s = run.duration_s(), end_s = 0;
  const auto reader = training.details->steps();
  Step step;
  for (;;) {
    TS_TRY(const bool has_more, reader->next(step));
    if (!has_more) break;
    const double length_s = step.mean_s().value_or(0) * static_cast<double>(step.covers);
    begin_s = std::min(begin_s, step.time_s - length_s);
    end_s = std::max(end_s, step.time_s);
  }
  startup_s_ = std::max(0.0, begin_s);
  if (end_s > startup_s_) windows_ = divide(startup_s_, end_s);
  TS_TRY(step_time_, step_time_analysis.analyze(run));
  has_phases_ = training.has_input_phases || training.has_compute_phases;
  for (const BreakdownPart& part : step_time_.breakdown) shares_[part.part] = part.share;
  if (has_phases_) shares_.try_emplace("input", 0);
  const auto phases = training.details->phases();
  TrainingPhase phase;
  std::map<std::string, double, std::less<>> named;
  for (;;) {
    TS_TRY(const bool has_more, phases->next(phase));
    if (!has_more) break;
    if (!phase.who.empty() || (named.size() >= kMostNames && !named.contains(phase.name))) continue;
    named[phase.name] += phase.to_s - phase.from_s;
  }
  for (const auto& [name, time_s] : named) {
    shares_.try_emplace(name, std::min(1.0, time_s / training_s()));
  }
  return {};
}

Status Evidence::read_signals(const RunView& run) {
  const std::vector<Series>& series = run.recorded_series();
  for (const Source& source : sources()) {
    Value& value = values_[index(source.spec.signal)];
    value.windows.resize(windows_.count);
    for (size_t i = 0; i < series.size(); ++i) {
      if (series[i].metric != source.metric || series[i].status == SeriesStatus::absent ||
          !has_labels(series[i], source.labels)) {
        continue;
      }
      TS_TRY(const Reduction reduced, reduce(run, i, windows_, source.reading));
      combine(value.mean, reduced.mean(), source.combine);
      for (size_t w = 0; w < windows_.count; ++w) {
        combine(value.windows[w], reduced.at(w), source.combine);
      }
      workers_ += source.spec.signal == Signal::worker_most && reduced.mean() ? 1 : 0;
    }
  }
  return {};
}

// CPUs that the job may use: those that it was given, not those of the machine.
void Evidence::read_cpus(const RunView& run) {
  const Json host = parse_json(run.host_json());
  auto given = number_field(host, "job_cpus");
  if (!given) given = number_field(host, "threads");
  if (given && *given > 0) cpus_ = *given;
}

}  // namespace trainscope
