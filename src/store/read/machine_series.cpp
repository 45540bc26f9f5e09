#include "store/read/machine_series.h"

#include <algorithm>
#include <array>
#include <mutex>

#include "base/json.h"
#include "base/text.h"

namespace trainscope {

namespace {

std::string label_value(const Series& series, std::string_view name) {
  for (const auto& [key, value] : series.labels) {
    if (key == name) return value;
  }
  return "";
}

bool is_of_machine(const Series& series) {
  if (series.status == SeriesStatus::absent) return false;
  if (series.metric.starts_with("system.cpu.")) return label_value(series, "state") == "steal";
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

// The ranks of a job do the same: if the driver reports that one has no memory of any GPU, none of
// them uses one.
bool uses_no_gpu(const RunView& machine) {
  const std::vector<Series>& series = machine.recorded_series();
  std::vector<WindowQuery> queries;
  for (size_t i = 0; i < series.size(); ++i) {
    const bool is_memory = series[i].metric == "job.gpu.memory.usage";
    if (is_memory && series[i].status != SeriesStatus::absent) queries.push_back({i});
  }
  if (queries.empty()) return false;
  const auto folds = machine.fold_windows(queries, {0, std::max(machine.duration_s(), 1e-3), 1});
  return folds && std::none_of(folds->begin(), folds->end(),
                               [](const WindowFold& fold) { return fold.mean().value_or(1) > 0; });
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

// Which series of the machine's GPUs a rank has.
class RankGpus {
 public:
  RankGpus(const RunView& run, const RunView& machine) {
    const Json host = parse_json(run.host_json());
    const auto allowed = host.is_object() ? allowed_gpus(host) : std::nullopt;
    has_none_ = uses_no_gpu(machine) || (allowed && allowed->empty());
    if (has_none_) return;
    const auto rank = static_cast<size_t>(std::max<int64_t>(0, run.manifest().local_rank));
    std::string own = std::to_string(rank);
    if (allowed) {
      const bool is_given_one = allowed->size() == 1;
      own = rank < allowed->size() ? (*allowed)[rank] : is_given_one ? allowed->front() : "";
      own = gpu_number(host, own);
    }
    const std::vector<Series>& series = machine.recorded_series();
    const bool is_there = std::any_of(series.begin(), series.end(), [&](const Series& each) {
      return is_of_gpu(each) && label_value(each, "gpu") == own;
    });
    if (is_there) own_ = own;
  }

  bool has(const Series& series) const {
    return !has_none_ && (own_.empty() || label_value(series, "gpu") == own_);
  }

 private:
  bool has_none_ = false;
  std::string own_;  // its label; empty: unknown
};

class RunWithMachine : public RunView {
 public:
  RunWithMachine(std::unique_ptr<RunView> run, std::unique_ptr<RunView> machine)
      : run_(std::move(run)),
        machine_(std::move(machine)),
        shift_s_(seconds_between(run_->manifest(), machine_->manifest())),
        recorded_(run_->recorded_series()),
        own_count_(recorded_.size()) {
    const RankGpus gpus(*run_, *machine_);
    const std::vector<Series>& series = machine_->recorded_series();
    for (size_t i = 0; i < series.size(); ++i) {
      if (!is_of_machine(series[i]) || (is_of_gpu(series[i]) && !gpus.has(series[i]))) continue;
      added_.push_back(i);
      recorded_.push_back(series[i]);
    }
  }

  const Manifest& manifest() const override { return run_->manifest(); }
  const std::string& path() const override { return run_->path(); }
  RunStatus status() const override { return run_->status(); }
  double duration_s() const override { return run_->duration_s(); }
  const std::string& host_json() const override { return run_->host_json(); }
  const Sampling& sampling() const override { return run_->sampling(); }
  Overhead overhead() const override { return run_->overhead(); }
  const std::vector<Event>& events() const override { return run_->events(); }
  const Training& training() const override { return run_->training(); }
  const std::vector<Series>& recorded_series() const override { return recorded_; }

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
    Range shifted = range;
    if (shifted.begin_s) *shifted.begin_s -= shift_s_;
    if (shifted.end_s) *shifted.end_s -= shift_s_;
    TS_TRY(Points points, machine_->points(added_[series - own_count_], shifted));
    for (double& time_s : points.time_s) time_s += shift_s_;
    return points;
  }

  // Of a series of the machine over the whole other run.
  Result<Summary> summary(size_t series) const override {
    if (is_added(series)) return machine_->summary(added_[series - own_count_]);
    return run_->summary(own_place(series));
  }

  Result<std::vector<WindowFold>> fold_windows(const std::vector<WindowQuery>& queries,
                                               const TimeWindows& windows) const override {
    std::vector<WindowQuery> own, others;
    for (const WindowQuery& query : queries) {
      if (is_added(query.series)) {
        others.push_back({added_[query.series - own_count_], query.reading});
      } else {
        own.push_back({own_place(query.series), query.reading});
      }
    }
    TimeWindows shifted = windows;
    shifted.begin_s -= shift_s_;
    TS_TRY(std::vector<WindowFold> of_run, run_->fold_windows(own, windows));
    TS_TRY(std::vector<WindowFold> of_machine, machine_->fold_windows(others, shifted));
    std::vector<WindowFold> folds;
    size_t next_of_run = 0, next_of_machine = 0;
    for (const WindowQuery& query : queries) {
      folds.push_back(std::move(is_added(query.series) ? of_machine[next_of_machine++]
                                                       : of_run[next_of_run++]));
    }
    return folds;
  }

 private:
  bool is_added(size_t series) const { return series >= own_count_ && series < recorded_.size(); }
  size_t own_place(size_t series) const {
    return series < own_count_ ? series : series - added_.size();
  }

  std::unique_ptr<RunView> run_, machine_;
  double shift_s_;  // when the other run began
  std::vector<Series> recorded_;
  size_t own_count_;           // how many of these the run has itself
  std::vector<size_t> added_;  // places of the others in the other run
  mutable std::once_flag all_once_;
  mutable std::vector<Series> all_;
};

}  // namespace

std::unique_ptr<RunView> add_machine_series(std::unique_ptr<RunView> run,
                                            std::unique_ptr<RunView> machine) {
  return std::make_unique<RunWithMachine>(std::move(run), std::move(machine));
}

}  // namespace trainscope
