#include "analyze/support/signals.h"

#include <algorithm>

#include "base/text.h"

namespace trainscope {

namespace {

bool matches(std::string_view value, std::string_view pattern) {
  if (pattern.starts_with('!')) return !matches(value, pattern.substr(1));
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

bool has_labels(const Series& series, const WantedLabels& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const auto& label) {
    return std::any_of(series.labels.begin(), series.labels.end(), [&](const auto& own) {
      return own.first == label.first && matches(own.second, label.second);
    });
  });
}

}  // namespace

// A table.
const std::vector<SignalSource>& signal_sources() {  // NOLINT(readability-function-size)
  using enum Signal;
  static const std::vector<SignalSource> kSources = {
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
      {{ranks_cores, "CPU of other ranks of the job"},
       kRanksCpuTime,
       {},
       Reading::rate,
       Combine::sum},
      {{steal_cores, "CPU taken by the hypervisor"},
       "system.cpu.time",
       {{"cpu", "all"}, {"state", "steal"}},
       Reading::rate,
       Combine::sum},
      {{cpu_pressure, "time in which tasks waited for a CPU"},
       "system.pressure.time",
       {{"resource", "cpu"}, {"kind", "some"}},
       Reading::rate,
       Combine::sum,
       "cgroup.pressure.time"},
      // That of a whole machine means nothing.
      {{cpu_held_up, "time in which no task of the job got a CPU that one waited for"},
       "cgroup.pressure.time",
       {{"resource", "cpu"}, {"kind", "full"}},
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
       {{"device", "!lo"}, {"direction", "receive"}},
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
      {{main_delayed, "main thread waiting for block I/O, as measured"},
       "job.thread.delay",
       {{"role", "main"}},
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
      {{worker_delayed, "a worker waiting for block I/O, as measured"},
       "job.thread.delay",
       {{"role", "worker*"}},
       Reading::rate,
       Combine::most},
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
      {{gpu_fp32, "fp32 units active"}, "hw.gpu.fp32_active", {}, Reading::level, Combine::most},
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

std::string cpu_pattern(std::string_view list) {
  constexpr int64_t kMostCpus = 65536;
  std::string pattern;
  for (const std::string_view part : split(trim(list), ',')) {
    const size_t dash = part.find('-');
    const auto first = parse_integer(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_integer(part.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last >= kMostCpus) return "";
    for (int64_t cpu = *first; cpu <= *last; ++cpu) {
      pattern += (pattern.empty() ? "" : "|") + std::to_string(cpu);
    }
  }
  return pattern;
}

bool is_of(const Series& series, std::string_view metric, const WantedLabels& labels) {
  return series.metric == metric && series.status != SeriesStatus::absent &&
         has_labels(series, labels);
}

std::string_view signal_metric(Signal signal) {
  return signal_sources()[static_cast<size_t>(signal)].metric;
}

std::string_view signal_unit(Signal signal) {
  const std::string_view metric = signal_metric(signal);
  if (metric.ends_with("cpu.time")) return "cores";
  if (metric.ends_with(".io") || metric == "job.io.bytes") return "By/s";
  if (metric == "job.io.calls" || metric.ends_with("faults")) return "/s";
  return metric.ends_with("memory.usage") ? "" : "%";
}

const SignalSpec& signal_spec(Signal signal) {
  return signal_sources()[static_cast<size_t>(signal)].spec;
}

}  // namespace trainscope
