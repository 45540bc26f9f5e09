#include "store/derived.h"

#include <algorithm>
#include <map>
#include <span>

#include "base/json.h"
#include "store/store.h"

namespace trainscope {

namespace {

// The inputs of one row and of the one in front of it (empty for formulas that need none).
struct Row {
  std::span<const double> now, before;
  std::span<const char> roles;
  double elapsed_s = 0;
  double divisor = 1;

  // The sum over the inputs of a role, now or as increase.
  double sum(char role) const {
    double total = 0;
    for (size_t i = 0; i < now.size(); ++i) {
      if (roles[i] == role) total += now[i];
    }
    return total;
  }
  double increase(char role) const {
    double total = 0;
    for (size_t i = 0; i < now.size(); ++i) {
      if (roles[i] == role) total += now[i] - before[i];
    }
    return total;
  }
};

constexpr char kBusy = 'b', kIdle = 'i', kUsed = 'u', kRest = 'r', kCycles = 'c', kNone = 0;

std::string_view label(const Labels& labels, std::string_view name) {
  for (const auto& [key, value] : labels) {
    if (key == name) return value;
  }
  return {};
}

char cpu_role(const Series& series) {
  const std::string_view state = label(series.labels, "state");
  return state == "idle" || state == "iowait" ? kIdle : kBusy;
}

// At 100 samples a second the kernel's own tick may not have passed between two: then nothing is
// known, which is not the same as idle.
std::optional<double> cpu_utilization(const Row& row) {
  const double busy = row.increase(kBusy), all = busy + row.increase(kIdle);
  // Sums of hundredths: less than half of one is rounding.
  if (all < 0.005) return std::nullopt;
  return std::clamp(busy / all, 0.0, 1.0);
}

// used + free + cached + buffers is the machine's memory; `available` overlaps them.
char memory_role(const Series& series) {
  const std::string_view state = label(series.labels, "state");
  if (state == "used") return kUsed;
  return state == "free" || state == "cached" || state == "buffers" ? kRest : kNone;
}

std::optional<double> memory_utilization(const Row& row) {
  const double used = row.sum(kUsed), total = used + row.sum(kRest);
  if (!(total > 0)) return std::nullopt;
  return std::clamp(used / total, 0.0, 1.0);
}

char any_role(const Series& /*series*/) { return kBusy; }

char cycles_role(const Series& series) { return series.metric == "perf.cycles" ? kCycles : kBusy; }

std::optional<double> instructions_per_cycle(const Row& row) {
  const double cycles = row.increase(kCycles);
  if (!(cycles > 0)) return std::nullopt;
  return row.increase(kBusy) / cycles;
}

std::optional<double> busy_share(const Row& row) {
  if (!(row.elapsed_s > 0)) return std::nullopt;
  return std::clamp(row.increase(kBusy) / row.elapsed_s, 0.0, 1.0);
}

// Not clipped: a job whose threads are counted late may use more than all for a tick, and that is
// seen.
std::optional<double> job_utilization(const Row& row) {
  if (!(row.elapsed_s > 0)) return std::nullopt;
  return row.increase(kBusy) / row.elapsed_s / row.divisor;
}

std::optional<double> per_second(const Row& row) {
  if (!(row.elapsed_s > 0)) return std::nullopt;
  return row.increase(kBusy) / row.elapsed_s;
}

}  // namespace

struct DerivedSpec {
  MetricSpec metric;  // with a label, one series for each of its values
  std::string_view input = "";
  bool is_rate = false;      // needs the row in front
  bool per_job_cpu = false;  // divides by the number of CPUs that the job may use
  char (*role)(const Series&) = nullptr;
  std::optional<double> (*compute)(const Row&) = nullptr;
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
     .compute = job_utilization},
    {.metric = {"perf.ipc", "{instruction}/{cycle}", Kind::gauge, "mode", "Instructions per cycle",
                InfoPlace(), "increase of perf.instructions / increase of perf.cycles"},
     .input = "perf.instructions",
     .is_rate = true,
     .role = cycles_role,
     .compute = instructions_per_cycle,
     .second_input = "perf.cycles"},
    {.metric = {"system.cpu.utilization", "1", Kind::gauge, "cpu",
                "Share of the time in which the CPU was busy", in_info(301).only("cpu", "all"),
                "increase of system.cpu.time except idle and iowait / its increase in all states"},
     .input = "system.cpu.time",
     .is_rate = true,
     .role = cpu_role,
     .compute = cpu_utilization},
    {.metric = {"system.disk.utilization", "1", Kind::gauge, "device",
                "Share of the time in which the device had requests", in_info(305).unless_idle(),
                "increase of system.disk.io_time / time"},
     .input = "system.disk.io_time",
     .is_rate = true,
     .role = any_role,
     .compute = busy_share},
    {.metric = {"system.memory.utilization", "1", Kind::gauge, "", "Share of the memory in use",
                in_info(303), "used / (used + free + cached + buffers) of system.memory.usage"},
     .input = "system.memory.usage",
     .role = memory_role,
     .compute = memory_utilization},
};

// Of the counters that only the command line names.
constexpr std::string_view kFileCounters = "counter.";
constexpr DerivedSpec kFileCounterRate = {
    .metric = {"counter.NAME.rate", "UNIT/s", Kind::gauge, "file",
               "Rate of a counter that was given with `--counter`", InfoPlace(),
               "increase of counter.NAME / time"},
    .is_rate = true,
    .role = any_role,
    .compute = per_second};

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
    const char role = spec.role(series);
    if (role == kNone) continue;
    const std::string group(label(series.labels, spec.metric.labels));
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
    out.push_back({std::move(rate), &kFileCounterRate, {i}, {kBusy}, 1});
    inherit_status(out.back(), directory);
  }
}

// The values of `points` at the given times; most inputs have the very same times.
void align(const std::vector<double>& times, Points& points) {
  if (points.time_s == times) return;
  Points aligned{times, std::vector<double>(times.size()), std::vector<char>(times.size())};
  size_t at = 0;
  for (size_t i = 0; i < times.size(); ++i) {
    while (at < points.time_s.size() && points.time_s[at] < times[i]) ++at;
    if (at == points.time_s.size() || points.time_s[at] != times[i]) continue;
    aligned.value[i] = points.value[at];
    aligned.present[i] = points.present[at];
  }
  points = std::move(aligned);
}

// The inputs' values at row i; false when one is absent.
bool take_row(const std::vector<Points>& inputs, size_t i, std::vector<double>& values) {
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (inputs[k].present[i] == 0) return false;
    values[k] = inputs[k].value[i];
  }
  return true;
}

bool any_decrease(const std::vector<double>& before, const std::vector<double>& now) {
  for (size_t k = 0; k < now.size(); ++k) {
    if (now[k] < before[k]) return true;
  }
  return false;
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

Points compute_derived(const DerivedSeries& derived, const Range& range,
                       std::vector<Points> inputs) {
  Points out;
  if (inputs.empty() || derived.series.status == SeriesStatus::absent) return out;
  const std::vector<double> times = inputs[0].time_s;
  for (Points& points : inputs) align(times, points);
  out.time_s.reserve(times.size());
  out.value.reserve(times.size());
  out.present.reserve(times.size());
  std::vector<double> now(inputs.size()), before(inputs.size());
  bool have_before = false;
  for (size_t i = 0; i < times.size(); ++i) {
    const bool have = take_row(inputs, i, now);
    std::optional<double> value;
    if (have && (!derived.spec->is_rate || (have_before && !any_decrease(before, now)))) {
      value = derived.spec->compute(
          {now, before, derived.roles, i == 0 ? 0 : times[i] - times[i - 1], derived.divisor});
    }
    if (!range.begin_s || times[i] >= *range.begin_s) {
      out.time_s.push_back(times[i]);
      out.value.push_back(value.value_or(0));
      out.present.push_back(value ? 1 : 0);
    }
    have_before = have;
    std::swap(now, before);
  }
  return out;
}

}  // namespace trainscope
