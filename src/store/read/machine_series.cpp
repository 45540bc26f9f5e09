#include "store/read/machine_series.h"

#include <algorithm>
#include <array>
#include <functional>
#include <mutex>
#include <set>

#include "base/json.h"
#include "base/text.h"

namespace trainscope {

namespace {

bool is_of_machine(const Series& series) {
  if (series.status == SeriesStatus::absent) return false;
  if (series.metric.starts_with("system.cpu."))
    return value_of_label(series.labels, "state") == "steal";
  return series.metric.starts_with("system.") || series.metric.starts_with("hw.");
}

bool is_of_gpu(const Series& series) { return series.metric.starts_with("hw.gpu."); }

// Of the same boot; the wall clock may have been set in between.
double seconds_between(const Manifest& from, const Manifest& to) {
  const bool is_same_boot = !from.boot_id.empty() && from.boot_id == to.boot_id;
  const int64_t between_ns = is_same_boot ? to.zero_boottime_ns - from.zero_boottime_ns
                                          : to.zero_realtime_ns - from.zero_realtime_ns;
  return static_cast<double>(between_ns) / 1e9;
}

// In which the job of this run has memory, by label; nothing if that is unknown.
std::optional<std::set<std::string>> used_gpus(const RunView& run) {
  const std::vector<Series>& series = run.recorded_series();
  std::vector<WindowQuery> queries;
  for (size_t i = 0; i < series.size(); ++i) {
    const bool is_memory = series[i].metric == "job.gpu.memory.usage";
    if (is_memory && series[i].status != SeriesStatus::absent) queries.push_back({i});
  }
  const auto folds = run.fold_windows(queries, {0, std::max(run.duration_s(), 1e-3), 1});
  if (!folds || queries.empty()) return std::nullopt;
  std::set<std::string> used;
  bool are_known = true;
  for (size_t i = 0; i < queries.size(); ++i) {
    const auto bytes = (*folds)[i].mean();
    are_known = are_known && bytes;
    if (bytes.value_or(0) > 0)
      used.emplace(value_of_label(series[queries[i].series].labels, "gpu"));
  }
  return used.empty() && !are_known ? std::nullopt : std::optional(used);
}

// The GPUs that a variable allows, as it names them; nothing if none is set.
std::optional<std::vector<std::string>> allowed_gpus(const Json& host) {
  constexpr std::array<const char*, 3> kNames = {"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
                                                 "ROCR_VISIBLE_DEVICES"};
  const auto environment = host.find("environment");
  if (environment == host.end() || !environment->is_object()) return std::nullopt;
  for (const char* const name : kNames) {
    const auto found = environment->find(name);
    if (found == environment->end() || !found->is_string()) continue;
    std::vector<std::string> gpus;
    for (const std::string_view gpu : split(found->get_ref<const std::string&>(), ',')) {
      if (trim(gpu).empty() || trim(gpu) == "-1") break;  // those after it do not count
      gpus.emplace_back(trim(gpu));
    }
    return gpus;
  }
  return std::nullopt;
}

// "2" of "2", or of the beginning of the identity of the GPU with that number.
std::string gpu_number(const Json& host, const std::string& name) {
  const auto gpus = host.find("gpus");
  if (parse_integer(name) || gpus == host.end() || !gpus->is_array()) return name;
  for (const Json& gpu : *gpus) {
    const auto index = number_field(gpu, "index");
    if (index && text_field(gpu, "uuid").starts_with(name)) {
      return std::to_string(static_cast<int64_t>(*index));
    }
  }
  return name;
}

// The only GPU that a rank uses by the usual order, by label; "" if that is unknown.
std::string usual_gpu(const Json& host, const std::optional<std::vector<std::string>>& allowed,
                      size_t rank) {
  if (!allowed) return std::to_string(rank);
  if (rank < allowed->size()) return gpu_number(host, (*allowed)[rank]);
  return allowed->size() == 1 ? gpu_number(host, allowed->front()) : "";
}

// Which series of the machine's GPUs a rank has.
class RankGpus {
 public:
  RankGpus(const RunView& run, const RunView& machine) {
    const std::vector<Series>& own = run.recorded_series();
    has_none_ = std::any_of(own.begin(), own.end(), [](const Series& each) {
      return is_of_gpu(each) && each.status != SeriesStatus::absent;  // what it needs
    });
    if (has_none_) return;
    if (const auto used = used_gpus(run)) {
      own_ = *used;
      has_none_ = used->empty();
    } else {
      guess(run, machine);
    }
  }

  bool has(const Series& series) const {
    return !has_none_ &&
           (own_.empty() || own_.contains(std::string(value_of_label(series.labels, "gpu"))));
  }

 private:
  // The ranks of a job do the same: if one has no memory of any GPU, none of them uses one.
  void guess(const RunView& run, const RunView& machine) {
    const Json host = parse_json(run.host_json());
    const auto allowed = host.is_object() ? allowed_gpus(host) : std::nullopt;
    const auto used = used_gpus(machine);
    has_none_ = (used && used->empty()) || (allowed && allowed->empty());
    if (has_none_) return;
    const auto rank = static_cast<size_t>(std::max<int64_t>(0, run.manifest().local_rank));
    const std::string usual = usual_gpu(host, allowed, rank);
    const std::vector<Series>& series = machine.recorded_series();
    const bool is_there = std::any_of(series.begin(), series.end(), [&](const Series& each) {
      return is_of_gpu(each) && value_of_label(each.labels, "gpu") == usual;
    });
    if (is_there) own_ = {usual};
  }

  bool has_none_ = false;
  std::set<std::string> own_;  // labels; empty: unknown
};

// A run with series of other runs of the same machine.
class RunWithOthers : public RunView {
 public:
  explicit RunWithOthers(std::unique_ptr<RunView> run)
      : run_(std::move(run)), recorded_(run_->recorded_series()), own_count_(recorded_.size()) {}

  // All that `select` returns true for, which may rename them.
  void add(std::unique_ptr<RunView> other, const std::function<bool(Series&)>& select) {
    const std::vector<Series>& series = other->recorded_series();
    for (size_t i = 0; i < series.size(); ++i) {
      Series each = series[i];
      if (!select(each)) continue;
      added_.push_back({others_.size(), i});
      recorded_.push_back(std::move(each));
    }
    const double shift_s = seconds_between(run_->manifest(), other->manifest());
    others_.push_back({std::move(other), shift_s});
  }

  const Manifest& manifest() const override { return run_->manifest(); }
  const std::string& path() const override { return run_->path(); }
  RunStatus status() const override { return run_->status(); }
  double duration_s() const override { return run_->duration_s(); }
  const std::string& host_json() const override { return run_->host_json(); }
  const Sampling& sampling() const override { return run_->sampling(); }
  Overhead overhead() const override { return run_->overhead(); }
  const std::vector<Event>& events() const override { return run_->events(); }
  int64_t left_out_events() const override { return run_->left_out_events(); }
  const Training& training() const override { return run_->training(); }
  const std::vector<Series>& recorded_series() const override { return recorded_; }
  std::vector<Range> parts_of(const TimeWindows& windows) const override {
    return run_->parts_of(windows);
  }

  const std::vector<Series>& series() const override {
    std::call_once(all_once_, [this] {
      all_ = recorded_;
      const std::vector<Series>& own = run_->series();
      all_.insert(all_.end(), own.begin() + static_cast<std::ptrdiff_t>(own_count_), own.end());
    });
    return all_;
  }

  Result<Points> points(size_t series, const Range& range) const override {
    if (!is_added(series)) return run_->points(own_place(series), range);
    const Added& added = added_[series - own_count_];
    const double shift_s = others_[added.other].shift_s;
    Range shifted = range;
    if (shifted.begin_s) *shifted.begin_s -= shift_s;
    if (shifted.end_s) *shifted.end_s -= shift_s;
    TS_TRY(Points points, others_[added.other].run->points(added.place, shifted));
    for (double& time_s : points.time_s) time_s += shift_s;
    return points;
  }

  // Of an added series over the whole other run.
  Result<Summary> summary(size_t series) const override {
    if (!is_added(series)) return run_->summary(own_place(series));
    const Added& added = added_[series - own_count_];
    return others_[added.other].run->summary(added.place);
  }

  Result<std::vector<WindowFold>> fold_windows(const std::vector<WindowQuery>& queries,
                                               const TimeWindows& windows) const override {
    std::vector<WindowFold> folds;
    for (const WindowQuery& query : queries) folds.emplace_back(windows, query.reading);
    std::vector<WindowQuery> wanted;
    std::vector<size_t> places;  // of these in `folds`
    const auto take = [&](size_t series, size_t place) {
      wanted.push_back({series, queries[place].reading, queries[place].has_extremes});
      places.push_back(place);
    };
    const auto read = [&](const RunView& run, const TimeWindows& shifted) -> Status {
      TS_TRY(std::vector<WindowFold> found, run.fold_windows(wanted, shifted));
      for (size_t k = 0; k < found.size(); ++k) folds[places[k]] = std::move(found[k]);
      wanted.clear();
      places.clear();
      return {};
    };
    for (size_t i = 0; i < queries.size(); ++i) {
      if (!is_added(queries[i].series)) take(own_place(queries[i].series), i);
    }
    TS_CHECK_OK(read(*run_, windows));
    for (size_t other = 0; other < others_.size(); ++other) {
      for (size_t i = 0; i < queries.size(); ++i) {
        if (!is_added(queries[i].series)) continue;
        const Added& added = added_[queries[i].series - own_count_];
        if (added.other == other) take(added.place, i);
      }
      TimeWindows shifted = windows;
      shifted.begin_s -= others_[other].shift_s;
      TS_CHECK_OK(read(*others_[other].run, shifted));
    }
    return folds;
  }

 private:
  struct Other {
    std::unique_ptr<RunView> run;
    double shift_s = 0;  // when it began
  };
  struct Added {
    size_t other = 0, place = 0;  // of the series in that run
  };

  bool is_added(size_t series) const { return series >= own_count_ && series < recorded_.size(); }
  size_t own_place(size_t series) const {
    return series < own_count_ ? series : series - added_.size();
  }

  std::unique_ptr<RunView> run_;
  std::vector<Other> others_;
  std::vector<Series> recorded_;
  size_t own_count_;  // how many of these the run has itself
  std::vector<Added> added_;
  mutable std::once_flag all_once_;
  mutable std::vector<Series> all_;
};

}  // namespace

std::unique_ptr<RunView> add_machine_series(std::unique_ptr<RunView> run,
                                            std::unique_ptr<RunView> machine) {
  const RankGpus gpus(*run, *machine);
  auto with_machine = std::make_unique<RunWithOthers>(std::move(run));
  with_machine->add(std::move(machine), [&](const Series& series) {
    return is_of_machine(series) && (!is_of_gpu(series) || gpus.has(series));
  });
  return with_machine;
}

std::unique_ptr<RunView> add_rank_series(std::unique_ptr<RunView> run,
                                         std::vector<std::unique_ptr<RunView>> others) {
  auto with_ranks = std::make_unique<RunWithOthers>(std::move(run));
  for (auto& other : others) {
    with_ranks->add(std::move(other), [](Series& series) {
      const bool is_cpu_time =
          series.metric == "job.cpu.time" || series.metric == "recorder.cpu.time";
      series.metric = kRanksCpuTime;
      return is_cpu_time && series.status != SeriesStatus::absent;
    });
  }
  return with_ranks;
}

}  // namespace trainscope
