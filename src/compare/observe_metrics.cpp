// Hardware metrics of a run in equal windows of time, from the statistics of stored blocks.
//
// Series of single CPUs and cores are left out, because the kernel chooses which CPU a thread runs
// on; clocks are averaged over all CPUs. The recorder's own series are not hardware.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "compare/observed_run.h"
#include "model/job_gpus.h"

namespace trainscope {

namespace {

constexpr std::string_view kCpuClock = "system.cpu.frequency";
constexpr size_t kFewWindows = 8;  // that a mean with an interval needs (stats/stats.h)

bool is_compared(const Series& series) {
  if (series.status == SeriesStatus::absent) return false;
  if (series.metric.starts_with("recorder.") || series.metric.starts_with("train.")) return false;
  if (series.derived && series.metric.ends_with(".rate")) return false;  // of a compared counter
  if (value_of_label(series.labels, "sensor").starts_with("coretemp Core ")) return false;
  const std::string_view cpu = value_of_label(series.labels, "cpu");
  return cpu.empty() || cpu == "all" || series.metric == kCpuClock;
}

Reading reading_of(const Series& series) {
  return series.kind == Kind::counter ? Reading::rate : Reading::level;
}

// Two samples per window where there are enough of them.
TimeWindows windows_for(const RunPart& part, double period_s) {
  const double length_s = std::max(part.end_s - part.begin_s, 1e-3);
  const double samples = std::max(1.0, std::floor(length_s / std::max(period_s, 1e-3)));
  const double few = std::min(samples, static_cast<double>(kFewWindows));
  const double count = std::clamp(samples / 2, few, static_cast<double>(kMostWindows));
  const auto whole = static_cast<size_t>(count);
  return {part.begin_s, length_s / static_cast<double>(whole), whole};
}

Observed blocks_of(const WindowFold& fold, size_t windows) {
  Observed observed;
  for (size_t w = 0; w < windows; ++w) {
    const auto value = fold.at(w);
    if (!value || !std::isfinite(*value)) continue;
    observed.means.push_back(*value);
    observed.weights.push_back(fold.weight(w));
  }
  return observed;
}

// The same windows of several series, averaged where all have a value.
Observed averaged(const std::vector<const WindowFold*>& folds, size_t windows) {
  Observed observed;
  for (size_t w = 0; w < windows && !folds.empty(); ++w) {
    double sum = 0;
    const bool has_all = std::all_of(folds.begin(), folds.end(), [&](const WindowFold* fold) {
      const auto value = fold->at(w);
      sum += value.value_or(0);
      return value && std::isfinite(*value);
    });
    if (!has_all) continue;
    observed.means.push_back(sum / static_cast<double>(folds.size()));
    observed.weights.push_back(folds.front()->weight(w));
  }
  return observed;
}

Status observe_group(const RunView& run, const RunPart& part, double period_s,
                     const std::vector<size_t>& places, std::vector<ObservedMetric>& all) {
  const std::vector<Series>& series = run.recorded_series();
  const TimeWindows windows = windows_for(part, period_s);
  std::vector<WindowQuery> queries;
  for (const size_t place : places) queries.push_back({place, reading_of(series[place])});
  TS_TRY(const std::vector<WindowFold> folds, run.fold_windows(queries, windows));
  std::vector<const WindowFold*> clocks;
  for (size_t i = 0; i < places.size(); ++i) {
    const Series& own = series[places[i]];
    if (own.metric == kCpuClock) {
      clocks.push_back(&folds[i]);
      continue;
    }
    const bool is_rate = reading_of(own) == Reading::rate;
    all.push_back({own.metric, own.labels, own.unit + (is_rate ? "/s" : ""),
                   blocks_of(folds[i], windows.count)});
  }
  Observed clock = averaged(clocks, windows.count);
  if (!clock.means.empty()) {
    all.push_back({std::string(kCpuClock), {{"cpu", "all"}}, "Hz", std::move(clock)});
  }
  return {};
}

// Energy counters or, if there are none, gauges of power.
struct PowerSource {
  std::string_view of, metric, key;
  std::vector<std::string_view> prefixes;  // of the label's value; empty: any
};

const std::vector<PowerSource>& power_sources() {
  static const std::vector<PowerSource> kSources = {
      {"GPU", "hw.gpu.energy", "gpu", {}},
      {"GPU", "hw.gpu.power", "gpu", {}},
      {"processor and memory", "hw.energy", "sensor", {"package", "dram"}},
      {"board", "hw.power", "sensor", {"VDD_IN", "POM_5V_IN"}},
  };
  return kSources;
}

bool is_source(const Series& series, const PowerSource& source, const std::set<std::string>& gpus) {
  if (series.metric != source.metric || !is_compared(series)) return false;
  const std::string_view value = value_of_label(series.labels, source.key);
  if (source.key == "gpu" && !gpus.empty() && !gpus.contains(std::string(value))) return false;
  return source.prefixes.empty() ||
         std::any_of(source.prefixes.begin(), source.prefixes.end(),
                     [&](std::string_view prefix) { return value.starts_with(prefix); });
}

Observed energy_blocks(const std::vector<WindowFold>& folds, const TimeWindows& windows,
                       const ObservedSteps& steps) {
  Observed blocks;
  for (size_t w = 0; w < windows.count; ++w) {
    const double count = steps.steps_at(windows.edge_s(w + 1)) - steps.steps_at(windows.edge_s(w));
    double power = 0;
    const bool has_all = std::all_of(folds.begin(), folds.end(), [&](const WindowFold& fold) {
      power += fold.at(w).value_or(0);
      return fold.at(w).has_value();
    });
    if (!has_all || !(count > 0)) continue;
    blocks.means.push_back(power * windows.length_s / count);
    blocks.weights.push_back(count);
  }
  return blocks;
}

}  // namespace

Result<std::vector<ObservedMetric>> observe_metrics(const RunView& run, const RunPart& part) {
  const std::vector<Series>& series = run.recorded_series();
  std::map<double, std::vector<size_t>> by_period;
  for (size_t i = 0; i < series.size(); ++i) {
    if (!is_compared(series[i])) continue;
    const double period_s = series[i].period_s > 0 ? series[i].period_s : run.sampling().period_s;
    by_period[period_s].push_back(i);
  }
  std::vector<ObservedMetric> all;
  for (const auto& [period_s, places] : by_period) {
    TS_CHECK_OK(observe_group(run, part, period_s, places, all));
  }
  std::erase_if(all, [](const ObservedMetric& metric) { return metric.blocks.means.empty(); });
  return all;
}

// Joules of a window, divided by the steps in it.
Result<std::optional<ObservedMetric>> observe_energy(const RunView& run, const RunPart& part,
                                                     const ObservedSteps& steps, std::string& of) {
  TS_TRY(const std::set<std::string> gpus, gpus_of_job(run, part.begin_s, part.end_s));
  const std::vector<Series>& series = run.recorded_series();
  const double step_s = (part.end_s - part.begin_s) / steps.steps;
  for (const PowerSource& source : power_sources()) {
    std::vector<WindowQuery> queries;
    double period_s = std::max(step_s, run.sampling().period_s);
    for (size_t i = 0; i < series.size(); ++i) {
      if (!is_source(series[i], source, gpus)) continue;
      queries.push_back({i, reading_of(series[i])});
      period_s = std::max(period_s, series[i].period_s);
    }
    if (queries.empty()) continue;
    const TimeWindows windows = windows_for(part, period_s);
    TS_TRY(const std::vector<WindowFold> folds, run.fold_windows(queries, windows));
    ObservedMetric energy{
        "train.energy_per_step", {{"of", std::string(source.of)}}, "J/{step}", {}};
    energy.blocks = energy_blocks(folds, windows, steps);
    if (energy.blocks.means.empty()) continue;
    of = source.of;
    return std::optional(std::move(energy));
  }
  return std::optional<ObservedMetric>();
}

}  // namespace trainscope
