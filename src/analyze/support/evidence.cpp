#include "analyze/support/evidence.h"

#include <algorithm>
#include <map>
#include <set>

#include "analyze/support/reached_limits.h"
#include "base/json.h"
#include "base/text.h"

namespace trainscope {

namespace {

constexpr double kLeastWindowS = 2;
constexpr size_t kMostWindows = 120;
// A worker is alive in a window if its states fill this much of it.
constexpr double kAlive = 0.5;

std::string_view metric_of(const SignalSource& source, const std::vector<Series>& all) {
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
  std::vector<const SignalSource*> readers;
};

// `cpus`: a pattern for those whose CPU time is read.
std::vector<WantedSeries> wanted_series(const std::vector<Series>& series, std::string_view cpus) {
  std::map<size_t, std::vector<const SignalSource*>> readers;
  for (const SignalSource& source : signal_sources()) {
    const std::string_view metric = metric_of(source, series);
    WantedLabels labels = source.labels;
    for (auto& [name, value] : labels) {
      if (name == "cpu") value = cpus;
    }
    for (size_t i = 0; i < series.size(); ++i) {
      if (is_of(series[i], metric, labels)) readers[i].push_back(&source);
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

// What a role did altogether, in seconds per second: more than 1 if what it did before its first
// row is in a later one, less if it did not live all the time.
struct RoleLife {
  double mean = 0;
  std::vector<double> windows;

  bool is_alive(size_t window) const { return windows[window] > kAlive; }
  size_t windows_alive() const {
    size_t count = 0;
    for (size_t w = 0; w < windows.size(); ++w) count += is_alive(w) ? 1 : 0;
    return count;
  }
};

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
      if (const auto gpu = value_of_label(each.labels, "gpu"); !gpu.empty()) gpus.emplace(gpu);
    }
    return gpus;
  }

  std::map<std::string, RoleLife> lives_of_roles(size_t windows) const {
    std::map<std::string, RoleLife> lives;
    for (size_t i = 0; i < wanted.size(); ++i) {
      const Series& each = series[wanted[i].place];
      if (each.metric != "job.thread.time") continue;
      RoleLife& life = lives[std::string(value_of_label(each.labels, "role"))];
      life.windows.resize(windows);
      life.mean += folds[i].mean().value_or(0);
      for (size_t w = 0; w < windows; ++w) life.windows[w] += folds[i].at(w).value_or(0);
    }
    return lives;
  }
};

std::vector<int64_t> workers_alive(const std::map<std::string, RoleLife>& lives, size_t windows) {
  std::vector<int64_t> alive(windows);
  for (const auto& [role, life] : lives) {
    if (!role.starts_with("worker")) continue;
    for (size_t w = 0; w < windows; ++w) alive[w] += life.is_alive(w) ? 1 : 0;
  }
  return alive;
}

std::optional<double> divided(const std::optional<double>& value, double by) {
  return value ? std::optional<double>(*value / std::max(1.0, by)) : std::nullopt;
}

// The mean of a worker while it was alive, so that workers of different times can be compared.
std::optional<double> mean_alive(const WindowFold& fold, const RoleLife& life) {
  double sum = 0, known = 0;
  for (size_t w = 0; w < life.windows.size(); ++w) {
    const auto value = life.is_alive(w) ? divided(fold.at(w), life.windows[w]) : std::nullopt;
    sum += value.value_or(0);
    known += value ? 1 : 0;
  }
  return known > 0 ? std::optional(sum / known) : divided(fold.mean(), life.mean);
}

TimeWindows divide(double begin_s, double end_s) {
  const double length_s = std::max(end_s - begin_s, 1e-3);
  const auto count =
      std::clamp(static_cast<size_t>(length_s / kLeastWindowS), size_t{1}, kMostWindows);
  return {begin_s, length_s / static_cast<double>(count), count};
}

}  // namespace

Result<Evidence> Evidence::of(const RunView& run, const MachineLimits* limits) {
  Evidence evidence;
  TS_TRY(evidence.reported_, ReportedTime::of(run));
  evidence.windows_ = divide(evidence.reported_->begin_s(), evidence.reported_->end_s());
  evidence.framework_ = framework_of(run);
  evidence.read_cpus(run);
  TS_CHECK_OK(evidence.read_signals(run));
  if (limits != nullptr) {
    TS_TRY(evidence.limits_, reached_limits(run, evidence, *limits));
  }
  return evidence;
}

Result<Evidence> Evidence::of_time(const RunView& run, double from_s, double to_s) const {
  Evidence part = *this;
  part.windows_ = {from_s, to_s - from_s, 1};
  part.values_ = {};
  part.own_.clear();
  TS_CHECK_OK(part.read_signals(run));
  part.uses_gpu_ = uses_gpu_;
  return part;
}

Status Evidence::read_signals(const RunView& run) {
  const std::vector<WantedSeries> wanted = wanted_series(run.recorded_series(), cpu_pattern_);
  std::vector<WindowQuery> queries;
  for (const WantedSeries& each : wanted) {
    const bool is_read = !each.readers.empty();
    queries.push_back({each.place, is_read ? each.readers.front()->reading : Reading::rate});
  }
  TS_TRY(const std::vector<WindowFold> folds, run.fold_windows(queries, windows_));
  const Readings readings{run.recorded_series(), wanted, folds};
  const std::set<std::string> gpus = readings.gpus_of_job();
  const std::map<std::string, RoleLife> lives = readings.lives_of_roles(windows_.count);
  size_t longest_life = 0;
  for (const auto& [role, life] : lives) {
    if (role.starts_with("worker")) longest_life = std::max(longest_life, life.windows_alive());
  }
  for (Value& value : values_) value.windows.resize(windows_.count);
  for (size_t i = 0; i < wanted.size(); ++i) {
    const Series& series = readings.series[wanted[i].place];
    const bool is_of_gpu = series.metric.starts_with("hw.gpu.");
    if (is_of_gpu && !gpus.empty() &&
        !gpus.contains(std::string(value_of_label(series.labels, "gpu"))))
      continue;
    const auto found = lives.find(std::string(value_of_label(series.labels, "role")));
    const RoleLife* const life = found == lives.end() ? nullptr : &found->second;
    const bool is_worker = life != nullptr && found->first.starts_with("worker");
    for (const SignalSource* source : wanted[i].readers) {
      // A worker of another loader, which lives for a while only, is not the slowest.
      if (source->combine == Combine::least && 2 * life->windows_alive() < longest_life) continue;
      Value& value = values_[index(source->spec.signal)];
      value.period_s = std::max(value.period_s, series.period_s);
      if (series.metric == source->own) own_.insert(source->spec.signal);
      const auto whole = is_worker ? mean_alive(folds[i], *life)
                                   : divided(folds[i].mean(), life == nullptr ? 1 : life->mean);
      combine(value.mean, whole, source->combine);
      for (size_t w = 0; w < windows_.count; ++w) {
        if (is_worker && !life->is_alive(w)) continue;
        const double by = life == nullptr ? 1 : life->windows[w];
        combine(value.windows[w], divided(folds[i].at(w), by), source->combine);
      }
    }
  }
  count_workers(workers_alive(lives, windows_.count));
  // In a container the driver does not tell whose memory it is: then a GPU that works is the job's.
  const auto bytes = mean(Signal::gpu_job_bytes);
  uses_gpu_ = bytes ? *bytes > 0 : mean(Signal::gpu_busy).value_or(0) > 0.02;
  return {};
}

// CPUs that the job may use: those that it was given, not those of the machine. If these are a part
// of the machine, the time of others counts only there.
void Evidence::read_cpus(const RunView& run) {
  const Json host = parse_json(run.host_json());
  const auto threads = number_field(host, "threads"), allowed = number_field(host, "allowed_cpus");
  auto given = number_field(host, "job_cpus");
  if (!given) given = threads;
  if (given && *given > 0) cpus_ = seen_cpus_ = *given;
  if (threads && *threads > 0) seen_cpus_ = *threads;
  if (!threads || !allowed || !(*allowed > 0) || *allowed >= *threads) return;
  const std::string pattern = cpu_pattern(text_field(host, "allowed_cpu_list"));
  const auto& all = run.recorded_series();
  are_others_seen_ = !pattern.empty() && std::any_of(all.begin(), all.end(), [&](const Series& s) {
    return is_of(s, "system.cpu.time", {{"cpu", pattern}});
  });
  if (!are_others_seen_) return;
  cpu_pattern_ = pattern;
  seen_cpus_ = *allowed;
}

}  // namespace trainscope
