#include "store/read/derived.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "base/json.h"
#include "store/store.h"

namespace trainscope {

namespace {

// What a formula computes a value from: sums over the inputs of a role, of rates the increases
// since the row before.
struct Row {
  double numerator = 0, other = 0;
  double elapsed_s = 0;
  double divisor = 1;
};

InputRole cpu_role(const Series& series) {
  const std::string_view state = value_of_label(series.labels, "state");
  return state == "idle" || state == "iowait" ? InputRole::other : InputRole::numerator;
}

// At 100 samples per second the kernel's own tick may not have passed between two: then nothing is
// known, which is not the same as idle.
std::optional<double> cpu_utilization(const Row& row) {
  const double all = row.numerator + row.other;
  // Sums of hundredths: less than half of one is rounding.
  if (all < 0.005) return std::nullopt;
  return std::clamp(row.numerator / all, 0.0, 1.0);
}

// used + free + cached + buffers is the machine's memory; `available` overlaps them.
InputRole memory_role(const Series& series) {
  const std::string_view state = value_of_label(series.labels, "state");
  if (state == "used") return InputRole::numerator;
  return state == "free" || state == "cached" || state == "buffers" ? InputRole::other
                                                                    : InputRole::none;
}

std::optional<double> memory_utilization(const Row& row) {
  const double total = row.numerator + row.other;
  if (!(total > 0)) return std::nullopt;
  return std::clamp(row.numerator / total, 0.0, 1.0);
}

InputRole any_role(const Series& /*series*/) { return InputRole::numerator; }

InputRole cycles_role(const Series& series) {
  return series.metric == "perf.cycles" ? InputRole::other : InputRole::numerator;
}

std::optional<double> instructions_per_cycle(const Row& row) {
  if (!(row.other > 0)) return std::nullopt;
  return row.numerator / row.other;
}

std::optional<double> busy_share(const Row& row) {
  if (!(row.elapsed_s > 0)) return std::nullopt;
  return std::clamp(row.numerator / row.elapsed_s, 0.0, 1.0);
}

// Not clipped: a job whose threads are counted late may use more than all for a tick, and that is
// seen.
std::optional<double> job_utilization(const Row& row) {
  if (!(row.elapsed_s > 0)) return std::nullopt;
  return row.numerator / row.elapsed_s / row.divisor;
}

std::optional<double> per_second(const Row& row) {
  if (!(row.elapsed_s > 0)) return std::nullopt;
  return row.numerator / row.elapsed_s;
}

bool is_constant(std::span<const double> values) {
  return std::memcmp(values.data(), values.data() + 1, (values.size() - 1) * sizeof(double)) == 0;
}

// A formula over many rows, whose times are those of `points`. The spans are its own: a char that
// is written could be part of anything else.
template <std::optional<double> (*kFormula)(const Row&)>
void each_row(const RowSums& sums, const DerivedState& state, Points& points) {
  const std::span<const double> numerator = sums.numerator, other = sums.other;
  const std::span<const char> is_known = sums.is_known;
  const std::span<const double> times = points.time_s;
  const std::span<double> values = points.value;
  const std::span<char> present = points.present;
  const double divisor = state.derived->divisor;
  double before_s = state.before_s;
  for (size_t r = 0; r < times.size(); ++r) {
    std::optional<double> value;
    if (is_known[r] != 0) value = kFormula({numerator[r], other[r], times[r] - before_s, divisor});
    values[r] = value.value_or(0);
    present[r] = value ? 1 : 0;
    before_s = times[r];
  }
}

}  // namespace

struct DerivedSpec {
  MetricSpec metric;  // with a label, one series for each of its values
  std::string_view input = "";
  bool is_rate = false;      // needs the row before
  bool per_job_cpu = false;  // divides by the number of CPUs that the job may use
  InputRole (*role)(const Series&) = nullptr;
  void (*compute)(const RowSums&, const DerivedState&, Points&) = nullptr;
  std::string_view second_input = "";  // a metric that must be there too
};

namespace {

constexpr DerivedSpec kDerivedSpecs[] = {
    {.metric = {"job.cpu.utilization", "1", Kind::gauge, "",
                "Share of the CPUs available to the job that it used", in_info(201),
                "increase of job.cpu.time / time / CPUs available to the job"},
     .input = "job.cpu.time",
     .is_rate = true,
     .per_job_cpu = true,
     .role = any_role,
     .compute = each_row<job_utilization>},
    {.metric = {"perf.ipc", "{instruction}/{cycle}", Kind::gauge, "mode", "Instructions per cycle",
                InfoPlace(), "increase of perf.instructions / increase of perf.cycles"},
     .input = "perf.instructions",
     .is_rate = true,
     .role = cycles_role,
     .compute = each_row<instructions_per_cycle>,
     .second_input = "perf.cycles"},
    {.metric = {"system.cpu.utilization", "1", Kind::gauge, "cpu",
                "Share of the time in which the CPU was busy", in_info(301).only("cpu", "all"),
                "increase of system.cpu.time except idle and iowait / its increase in all states"},
     .input = "system.cpu.time",
     .is_rate = true,
     .role = cpu_role,
     .compute = each_row<cpu_utilization>},
    {.metric = {"system.disk.utilization", "1", Kind::gauge, "device",
                "Share of the time in which the device had requests", in_info(305).unless_idle(),
                "increase of system.disk.io_time / time"},
     .input = "system.disk.io_time",
     .is_rate = true,
     .role = any_role,
     .compute = each_row<busy_share>},
    {.metric = {"system.memory.utilization", "1", Kind::gauge, "", "Share of the memory in use",
                in_info(303), "used / (used + free + cached + buffers) of system.memory.usage"},
     .input = "system.memory.usage",
     .role = memory_role,
     .compute = each_row<memory_utilization>},
};

// Of the counters that only the command line names.
constexpr std::string_view kFileCounters = "counter.";
constexpr DerivedSpec kFileCounterRate = {
    .metric = {"counter.NAME.rate", "UNIT/s", Kind::gauge, "file",
               "Rate of a counter that was given with `--counter`", InfoPlace(),
               "increase of counter.NAME / time"},
    .is_rate = true,
    .role = any_role,
    .compute = each_row<per_second>};

Series described(const DerivedSpec& spec, const std::string& group) {
  Series series;
  series.metric = spec.metric.name;
  series.unit = spec.metric.unit;
  series.kind = spec.metric.kind;
  series.derived = true;
  if (!group.empty()) series.labels = {{std::string(spec.metric.labels), group}};
  return series;
}

void make_absent(Series& series, const std::string& reason, const std::string& remedy) {
  series.status = SeriesStatus::absent;
  series.reason = reason;
  series.remedy = remedy;
}

// No stored input at all: say why, in the input's own words where there are some.
DerivedSeries without_input(const DerivedSpec& spec, const SeriesDirectory& directory) {
  DerivedSeries derived{described(spec, ""), &spec, {}, {}, 1};
  make_absent(derived.series, std::string(spec.input) + " was not recorded", "");
  for (const Series& missing : directory.absent) {
    if (missing.metric == spec.input) make_absent(derived.series, missing.reason, missing.remedy);
  }
  return derived;
}

// A derived series is as good as the worst of its inputs.
void inherit_status(DerivedSeries& derived, const SeriesDirectory& directory) {
  for (const size_t input : derived.inputs) {
    const Series& series = directory.stored[input].series;
    if (series.status == SeriesStatus::ok) continue;
    if (derived.series.status == SeriesStatus::absent) break;
    derived.series.status = series.status;
    derived.series.reason = series.reason;
    derived.series.remedy = series.remedy;
  }
}

bool is_input(const DerivedSpec& spec, const std::string& metric) {
  return metric == spec.input || (!spec.second_input.empty() && metric == spec.second_input);
}

// An imported run may have it stored: others computed it, and the inputs are not there.
bool is_stored(const DerivedSpec& spec, const SeriesDirectory& directory) {
  return std::any_of(directory.stored.begin(), directory.stored.end(),
                     [&](const StoredSeries& it) { return it.series.metric == spec.metric.name; });
}

void list_one(const DerivedSpec& spec, const SeriesDirectory& directory,
              std::optional<double> job_cpus, std::vector<DerivedSeries>& out) {
  if (is_stored(spec, directory)) return;
  std::map<std::string, size_t> groups;
  for (size_t i = 0; i < directory.stored.size(); ++i) {
    const Series& series = directory.stored[i].series;
    if (!is_input(spec, series.metric)) continue;
    const InputRole role = spec.role(series);
    if (role == InputRole::none) continue;
    const std::string group(value_of_label(series.labels, spec.metric.labels));
    const auto [place, added] = groups.emplace(group, out.size());
    if (added) out.push_back({described(spec, group), &spec, {}, {}, 1});
    out[place->second].inputs.push_back(i);
    out[place->second].roles.push_back(role);
  }
  if (groups.empty()) out.push_back(without_input(spec, directory));
  for (const auto& [group, place] : groups) {
    DerivedSeries& derived = out[place];
    inherit_status(derived, directory);
    if (!spec.per_job_cpu) continue;
    if (job_cpus) {
      derived.divisor = *job_cpus;
    } else {
      make_absent(derived.series, "the run's inventory lacks the number of CPUs", "");
    }
  }
}

void list_file_counter_rates(const SeriesDirectory& directory, std::vector<DerivedSeries>& out) {
  for (size_t i = 0; i < directory.stored.size(); ++i) {
    const Series& series = directory.stored[i].series;
    if (series.kind != Kind::counter || !series.metric.starts_with(kFileCounters)) continue;
    Series rate = {series.metric + ".rate",
                   series.labels,
                   series.unit + "/s",
                   Kind::gauge,
                   true,
                   SeriesStatus::ok,
                   "",
                   ""};
    out.push_back({std::move(rate), &kFileCounterRate, {i}, {InputRole::numerator}, 1});
    inherit_status(out.back(), directory);
  }
}

}  // namespace

std::vector<MetricSpec> derived_metrics() {
  std::vector<MetricSpec> metrics;
  for (const DerivedSpec& spec : kDerivedSpecs) metrics.push_back(spec.metric);
  metrics.push_back(kFileCounterRate.metric);
  return metrics;
}

std::vector<DerivedSeries> list_derived(const SeriesDirectory& directory,
                                        const std::string& host_json) {
  const Json host = parse_json(host_json);
  auto job_cpus = number_field(host, "job_cpus");
  if (!job_cpus || !(*job_cpus > 0)) job_cpus = number_field(host, "threads");
  if (job_cpus && !(*job_cpus > 0)) job_cpus.reset();
  std::vector<DerivedSeries> list;
  for (const DerivedSpec& spec : kDerivedSpecs) list_one(spec, directory, job_cpus, list);
  list_file_counter_rates(directory, list);
  sort_by_series(list);
  return list;
}

void DerivedCalculator::begin(DerivedState& state, std::span<const double> times) {
  state_ = &state;
  input_ = 0;
  sums_.numerator.assign(times.size(), 0);
  sums_.other.assign(times.size(), 0);
  sums_.is_known.assign(times.size(), 1);
  fell_.clear();
  points_.time_s.assign(times.begin(), times.end());
  points_.value.resize(times.size());
  points_.present.resize(times.size());
}

void DerivedCalculator::add(const InputValues& input) {
  const size_t number = input_++;
  std::vector<char>& is_known = sums_.is_known;
  if (input.value.empty()) {
    std::fill(is_known.begin(), is_known.end(), char{0});
    return;
  }
  const bool is_whole = std::memchr(input.present.data(), 0, input.present.size()) == nullptr;
  for (size_t r = 0; r < is_known.size() && !is_whole; ++r) {
    if (input.present[r] == 0) is_known[r] = 0;
  }
  const bool is_numerator = state_->derived->roles[number] == InputRole::numerator;
  const std::span<double> sums = is_numerator ? sums_.numerator : sums_.other;
  if (state_->derived->spec->is_rate) {
    add_increases(input.value, sums, state_->before[number]);
  } else {
    for (size_t r = 0; r < sums.size(); ++r) sums[r] += input.value[r];
  }
}

void DerivedCalculator::add_increases(std::span<const double> values, std::span<double> sums,
                                      double& before) {
  const double first = before;
  before = values.back();
  // Many counters do not move in a whole block.
  if (values.front() == first && is_constant(values)) return;
  double last = first;
  size_t falls = 0;
  for (size_t r = 0; r < sums.size(); ++r) {
    sums[r] += values[r] - last;
    falls += static_cast<size_t>(values[r] < last);
    last = values[r];
  }
  if (falls == 0) return;
  fell_.resize(sums.size());
  for (size_t r = 0; r < sums.size(); ++r) {
    if (values[r] < (r == 0 ? first : values[r - 1])) fell_[r] = 1;
  }
}

// A rate needs all inputs in the row before as well.
void DerivedCalculator::use_row_before() {
  std::vector<char>& is_known = sums_.is_known;
  const bool has_last = is_known.back() != 0;
  const bool is_whole = std::memchr(is_known.data(), 0, is_known.size()) == nullptr;
  for (size_t r = is_known.size() - 1; r > 0 && !is_whole; --r) {
    if (is_known[r - 1] == 0) is_known[r] = 0;
  }
  if (!state_->has_before) is_known[0] = 0;
  state_->has_before = has_last;
  for (size_t r = 0; r < fell_.size(); ++r) {
    if (fell_[r] != 0) is_known[r] = 0;
  }
}

const Points& DerivedCalculator::finish() {
  if (points_.time_s.empty()) return points_;
  if (state_->derived->spec->is_rate) use_row_before();
  state_->derived->spec->compute(sums_, *state_, points_);
  state_->before_s = points_.time_s.back();
  return points_;
}

}  // namespace trainscope
