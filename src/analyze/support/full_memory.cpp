#include "analyze/support/full_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "base/text.h"

namespace trainscope {

namespace {

// Of a GPU, where too much is an error of the job that it may handle; and where the kernel kills.
constexpr double kFullGpu = 0.92, kFull = 0.92, kAlarming = 0.97;
// Where memory really lacks, tasks wait for it or pages are swapped.
constexpr double kWaits = 0.05, kSwapBytes = 1e6;
constexpr double kWorks = 0.02;  // a GPU (analyze/support/evidence.cpp)
constexpr size_t kMostGpusNamed = 8;

// The largest and the smallest value of each series of some metrics while the job trained, and
// before it did of those that are read seldom.
class Levels {
 public:
  static Result<Levels> of(const RunView& run, const Evidence& evidence) {
    Levels levels(run.recorded_series());
    for (size_t i = 0; i < levels.all_.size(); ++i) {
      const std::string_view metric = levels.all_[i].metric;
      const bool is_wanted = metric == "hw.gpu.memory.usage" || metric == "hw.gpu.memory.limit" ||
                             metric == "job.gpu.memory.usage" || metric == "hw.gpu.utilization" ||
                             metric == "system.memory.limit" ||
                             is_of(levels.all_[i], "system.memory.usage", {{"state", "available"}});
      const bool is_seldom = metric == "job.memory.pss" || metric == "cgroup.memory.limit";
      if (levels.all_[i].status == SeriesStatus::absent) continue;
      if (is_wanted) levels.training_.queries.push_back({i, Reading::level, true});
      if (is_seldom) levels.whole_.queries.push_back({i, Reading::level, true});
    }
    const TimeWindows& windows = evidence.windows();
    TS_CHECK_OK(levels.training_.fold(run, windows.begin_s, windows.end_s()));
    TS_CHECK_OK(levels.whole_.fold(run, 0, windows.end_s()));
    return levels;
  }

  std::optional<double> most(std::string_view metric) const {
    std::optional<double> most;
    each(metric, [&](const Series&, const WindowFold& fold) {
      if (const auto value = fold.max(0)) most = std::max(most.value_or(*value), *value);
    });
    return most;
  }
  std::optional<double> least(std::string_view metric) const {
    std::optional<double> least;
    each(metric, [&](const Series&, const WindowFold& fold) {
      if (const auto value = fold.min(0)) least = std::min(least.value_or(*value), *value);
    });
    return least;
  }
  std::map<std::string, double> most_by_gpu(std::string_view metric) const {
    return by_gpu(metric, [](const WindowFold& fold) { return fold.max(0); });
  }
  std::map<std::string, double> mean_by_gpu(std::string_view metric) const {
    return by_gpu(metric, [](const WindowFold& fold) { return fold.mean(); });
  }

 private:
  struct Folded {
    std::vector<WindowQuery> queries;
    std::vector<WindowFold> folds;

    Status fold(const RunView& run, double from_s, double to_s) {
      TS_TRY(folds, run.fold_windows(queries, {from_s, to_s - from_s, 1}));
      return {};
    }
  };

  explicit Levels(const std::vector<Series>& all) : all_(all) {}

  template <typename Take>
  void each(std::string_view metric, Take take) const {
    for (const Folded* folded : {&training_, &whole_}) {
      for (size_t i = 0; i < folded->queries.size(); ++i) {
        const Series& series = all_[folded->queries[i].series];
        if (series.metric == metric) take(series, folded->folds[i]);
      }
    }
  }
  template <typename Value>
  std::map<std::string, double> by_gpu(std::string_view metric, Value value_of) const {
    std::map<std::string, double> values;
    each(metric, [&](const Series& series, const WindowFold& fold) {
      const auto value = value_of(fold);
      if (value) values[std::string(value_of_label(series.labels, "gpu"))] = *value;
    });
    return values;
  }

  const std::vector<Series>& all_;
  Folded training_, whole_;
};

std::string used_text(double used, double limit) {
  return fmt::format("{:.0f} % ({} of {})", 100 * used / limit, bytes_text(used),
                     bytes_text(limit));
}

// Is it the job's? In a container the driver does not tell whose memory it is: then a GPU that
// works is the job's, and a full one that does nothing is a neighbour's.
class GpusOfJob {
 public:
  explicit GpusOfJob(const Levels& levels)
      : memory_(levels.most_by_gpu("job.gpu.memory.usage")),
        busy_(levels.mean_by_gpu("hw.gpu.utilization")) {}

  bool contains(const std::string& gpu) const {
    const auto& known = memory_.empty() ? busy_ : memory_;
    const auto found = known.find(gpu);
    return found != known.end() && found->second > (memory_.empty() ? kWorks : 0);
  }

 private:
  std::map<std::string, double> memory_, busy_;
};

std::optional<Finding> full_gpus(const Levels& levels, const Evidence& evidence) {
  const auto usage = levels.most_by_gpu("hw.gpu.memory.usage"),
             limits = levels.most_by_gpu("hw.gpu.memory.limit");
  const GpusOfJob of_job(levels);
  Finding finding;
  double fullest = 0;
  for (const auto& [gpu, used] : usage) {
    const auto limit = limits.find(gpu);
    if (!of_job.contains(gpu) || limit == limits.end() || !(limit->second > 0)) continue;
    if (used < kFullGpu * limit->second) continue;
    fullest = std::max(fullest, used / limit->second);
    if (finding.evidence.size() < kMostGpusNamed) {
      finding.evidence.push_back(fmt::format("GPU {}: up to {} (hw.gpu.memory.usage)", gpu,
                                             used_text(used, limit->second)));
    }
  }
  if (finding.evidence.empty()) return std::nullopt;
  finding.id = "gpu_memory_nearly_full";
  finding.severity = "info";
  finding.summary =
      fmt::format("the memory of the GPU was nearly full: up to {:.0f} %", 100 * fullest);
  finding.advice = advice_text(Advice::less_gpu_memory, evidence.framework());
  return finding;
}

// `used` of `limit`, where the kernel ends processes when nothing is left.
std::optional<Finding> full_of(const std::optional<double>& used,
                               const std::optional<double>& limit, const char* what,
                               const char* metric) {
  if (!used || !limit || !(*limit > 0) || *used < kFull * *limit) return std::nullopt;
  Finding finding;
  finding.id = "memory_nearly_full";
  finding.severity = *used < kAlarming * *limit ? "info" : "warning";
  finding.summary = fmt::format("{} was nearly full: up to {:.0f} %", what, 100 * *used / *limit);
  finding.evidence = {fmt::format("up to {} ({})", used_text(*used, *limit), metric)};
  finding.advice =
      "use less memory (smaller batch, fewer workers, fewer caches), or the kernel may end the job";
  return finding;
}

// The page cache is part of what a control group uses, and can be given back: only what processes
// of the job use counts. Of that, pages of mapped files can be given back as well.
std::optional<Finding> full_host(const Levels& levels, const Evidence& evidence) {
  auto of_group = full_of(levels.most("job.memory.pss"), levels.least("cgroup.memory.limit"),
                          "the memory that the job may use", "job.memory.pss");
  const bool lacks_memory = evidence.mean(Signal::memory_pressure).value_or(0) > kWaits ||
                            evidence.mean(Signal::swap_bytes).value_or(0) > kSwapBytes;
  if (of_group && !lacks_memory) of_group->severity = "info";
  if (of_group) return of_group;
  const auto whole = levels.most("system.memory.limit");
  auto used = levels.least("system.memory.usage");
  if (used && whole) *used = *whole - *used;
  return full_of(used, whole, "the memory of the machine", "system.memory.usage");
}

}  // namespace

Result<std::vector<Finding>> full_memory(const RunView& run, const Evidence& evidence) {
  TS_TRY(const Levels levels, Levels::of(run, evidence));
  std::vector<Finding> findings;
  for (auto& found : {full_gpus(levels, evidence), full_host(levels, evidence)}) {
    if (found) findings.push_back(*found);
  }
  return findings;
}

}  // namespace trainscope
