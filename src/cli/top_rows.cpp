#include "cli/top_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.h"
#include "cli/table.h"
#include "cli/top_training.h"
#include "model/training.h"

namespace trainscope {

namespace {

constexpr size_t kMaxRows = 100;
constexpr size_t kFewGpus = 2;  // whose memory has a row too

struct ChosenSeries {
  size_t series = 0;
  std::string label;
  // Of several with the same text, the one with the largest mean is shown; "": all are.
  std::string rival_of = "";
  bool is_loopback = false;
};

// A row of the overview: series of this metric with this label. Devices compete for it.
struct OverviewRow {
  std::string_view label, metric, name, value;
  bool competes = false;
};
constexpr OverviewRow kOverview[] = {
    {"step time", "train.step.duration", "", ""},
    {"loss", "train.loss", "set", "train"},
    {"processor", "system.cpu.utilization", "cpu", "all"},
    {"memory", "system.memory.utilization", "", ""},
    {"disk read", "job.disk.io", "direction", "read"},
    {"disk write", "job.disk.io", "direction", "write"},
    {"disk", "system.disk.utilization", "", "", true},
    {"in", "system.network.io", "direction", "receive", true},
    {"out", "system.network.io", "direction", "transmit", true},
    {"GPU", "hw.gpu.utilization", "", ""},
    {"GPU mem", "hw.gpu.memory.usage", "", ""},
};

// Beginnings of the names of its metrics, in the order of their rows, and the resource whose
// pressure belongs to it.
struct ComponentMetrics {
  Component component;
  std::vector<std::string_view> names;
  std::string_view resource = "";
};
const std::vector<ComponentMetrics>& component_metrics() {
  static const std::vector<ComponentMetrics> kAll = {
      {Component::training, {"train."}},
      {Component::processor,
       {"job.cpu.utilization", "system.cpu.utilization", "system.cpu.run_queue", "cgroup.cpu."},
       "cpu"},
      {Component::memory,
       {"job.memory.", "system.memory.", "system.swap.", "cgroup.memory.", "system.paging."},
       "memory"},
      {Component::disk, {"job.disk.", "job.io.", "system.disk.", "lustre.", "nfs."}, "io"},
      {Component::network, {"system.network.", "ib."}},
      {Component::gpu, {"hw.gpu.", "job.gpu."}},
      {Component::job, {"job."}},
  };
  return kAll;
}

bool belongs_to(const Series& series, const ComponentMetrics& metrics) {
  if (series.metric == "system.pressure.time") {
    return !metrics.resource.empty() &&
           value_of_label(series.labels, "resource") == metrics.resource;
  }
  return std::any_of(metrics.names.begin(), metrics.names.end(),
                     [&](std::string_view name) { return series.metric.starts_with(name); });
}

// Where the row of a series is: metrics as they are listed, pressure after them; of one metric the
// whole machine before each of its CPUs.
std::pair<size_t, bool> place_of(const Series& series, const ComponentMetrics& metrics) {
  const auto name =
      std::find_if(metrics.names.begin(), metrics.names.end(),
                   [&](std::string_view each) { return series.metric.starts_with(each); });
  const std::string_view cpu = value_of_label(series.labels, "cpu");
  return {static_cast<size_t>(name - metrics.names.begin()), !cpu.empty() && cpu != "all"};
}

// "disk.io sda read", "job.disk.io read": without the first part of the name, if only one metric of
// these has the rest.
std::string short_text(const Series& series) {
  std::string text = series.metric;
  for (const std::string_view first : {"system.", "hw.", "train."}) {
    if (series.metric.starts_with(first)) text = series.metric.substr(first.size());
  }
  for (const auto& label : series.labels) text += " " + label.second;
  return text;
}

bool matches_words(const Series& series, const std::string& filter) {
  const std::string text = lower(series_text(series));
  for (const std::string_view word : fields(filter)) {
    if (text.find(lower(word)) == std::string::npos) return false;
  }
  return true;
}

std::string overview_label(const OverviewRow& row, const Series& series) {
  const std::string gpu(value_of_label(series.labels, "gpu"));
  const std::string device(value_of_label(series.labels, "device"));
  if (row.label == "GPU mem") return fmt::format("GPU {} mem", gpu);
  if (row.label == "GPU") return fmt::format("GPU {}", gpu);
  return row.competes ? fmt::format("{} {}", row.label, device) : std::string(row.label);
}

// A job may print what it also reports: what comes from where the steps come from is shown.
bool is_reported_twice(const RunView& run, const Series& one) {
  const std::string& source = run.training().source;
  if (!one.metric.starts_with("train.") || value_of_label(one.labels, "source") == source) {
    return false;
  }
  return std::any_of(run.series().begin(), run.series().end(), [&](const Series& other) {
    return other.metric == one.metric && other.status != SeriesStatus::absent &&
           value_of_label(other.labels, "source") == source &&
           value_of_label(other.labels, "set") == value_of_label(one.labels, "set");
  });
}

std::vector<ChosenSeries> choose_overview(const RunView& run) {
  const std::vector<Series>& series = run.series();
  const auto gpus =
      static_cast<size_t>(std::count_if(series.begin(), series.end(), [](const Series& one) {
        return one.metric == "hw.gpu.utilization" && one.status != SeriesStatus::absent;
      }));
  std::vector<ChosenSeries> chosen;
  for (const OverviewRow& row : kOverview) {
    if (row.label == "GPU mem" && gpus > kFewGpus) continue;
    for (size_t i = 0; i < series.size(); ++i) {
      const Series& one = series[i];
      if (one.status == SeriesStatus::absent || one.metric != row.metric) continue;
      if (!row.name.empty() && value_of_label(one.labels, row.name) != row.value) continue;
      if (is_reported_twice(run, one)) continue;
      chosen.push_back({i, overview_label(row, one), row.competes ? std::string(row.label) : "",
                        value_of_label(one.labels, "device") == "lo"});
    }
  }
  return chosen;
}

std::vector<ChosenSeries> choose_series(const RunView& run, const ViewRequest& request) {
  if (request.filter.empty() && request.component == Component::overview) {
    return choose_overview(run);
  }
  const auto metrics =
      std::find_if(component_metrics().begin(), component_metrics().end(),
                   [&](const auto& each) { return each.component == request.component; });
  std::vector<ChosenSeries> chosen;
  const std::vector<Series>& series = run.series();
  for (size_t i = 0; i < series.size(); ++i) {
    if (series[i].status == SeriesStatus::absent) continue;
    const bool is_wanted = request.filter.empty() ? belongs_to(series[i], *metrics)
                                                  : matches_words(series[i], request.filter);
    if (is_wanted) chosen.push_back({i, short_text(series[i])});
  }
  if (!request.filter.empty()) return chosen;
  std::stable_sort(chosen.begin(), chosen.end(), [&](const auto& a, const auto& b) {
    return place_of(series[a.series], *metrics) < place_of(series[b.series], *metrics);
  });
  return chosen;
}

Reading reading_of(const Series& series) {
  return series.kind == Kind::counter ? Reading::rate : Reading::level;
}

// From one window with a value to the next, usually: some drivers have new values less often than
// they are asked.
size_t usual_distance(const WindowFold& fold, const TimeWindows& windows) {
  std::vector<size_t> distances;
  std::optional<size_t> last;
  for (size_t k = 0; k < windows.count; ++k) {
    if (!fold.at(k)) continue;
    if (last) distances.push_back(k - *last);
    last = k;
  }
  if (distances.empty()) return 0;
  const auto middle = distances.begin() + static_cast<ptrdiff_t>(distances.size() / 2);
  std::nth_element(distances.begin(), middle, distances.end());
  return *middle;
}

bool is_ratio(const Series& series) {
  return series.unit == "1" && series.metric != "train.loss" &&
         !series.metric.starts_with("counter.");
}

// Derived values are at the times of samples.
double period_of(const RunView& run, const Series& series) {
  const bool is_computed = series.derived && !series.metric.starts_with("train.");
  return series.period_s > 0 || !is_computed ? series.period_s : run.sampling().period_s;
}

PlotRow make_row(const RunView& run, const std::string& label, const Series& series,
                 const WindowFold& fold, const TimeWindows& windows) {
  PlotRow row{label, plotted_values(fold, windows, period_of(run, series)), 0, 1, "", ""};
  std::optional<double> least, most, last;
  for (const auto& value : row.values) {
    if (!value) continue;
    least = std::min(least.value_or(*value), *value);
    most = std::max(most.value_or(*value), *value);
    last = value;
  }
  if (!last) return row;
  const bool is_rate = series.kind == Kind::counter;
  const std::string unit = series.unit == "1" && !is_ratio(series) ? "" : series.unit;
  const auto text = [&](double value) {
    if (is_rate && unit == "s") return percent_text(value);  // of the time
    return is_rate ? rate_text(value, unit) : value_text(value, unit);
  };
  row.value = text(*last);
  row.max = "max " + text(*most);
  if (is_ratio(series) && !is_rate && *most <= 1) return row;
  // A loss is worth seeing from its least to its largest value; other numbers start at 0.
  row.low = series.metric == "train.loss" ? *least : std::min(0.0, *least);
  row.high = std::max(*most, row.low);
  return row;
}

// Of each row that devices compete for, the place of its largest mean. The loopback device is no
// network: it is shown if there is no other.
std::map<std::string, size_t> find_busiest(const std::vector<ChosenSeries>& chosen,
                                           const std::vector<WindowFold>& folds) {
  const auto use_of = [&](size_t k) {
    return chosen[k].is_loopback ? -1 : folds[k].mean().value_or(0);
  };
  std::map<std::string, size_t> busiest;
  for (size_t k = 0; k < chosen.size(); ++k) {
    if (chosen[k].rival_of.empty()) continue;
    const auto [found, is_new] = busiest.emplace(chosen[k].rival_of, k);
    if (!is_new && use_of(k) > use_of(found->second)) found->second = k;
  }
  return busiest;
}

std::string why_no_row(const ViewRequest& request) {
  if (!request.filter.empty()) {
    return fmt::format("no series matches '{}'; escape removes the filter", request.filter);
  }
  if (request.component == Component::training) {
    return "the job reports no steps; see docs/guide/progress.md";
  }
  if (request.component == Component::overview) return "nothing is recorded yet";
  return fmt::format("nothing was recorded of this component ({}); `trainscope doctor` states why",
                     component_name(request.component));
}

Result<std::vector<WindowFold>> fold_all(const RunView& run,
                                         const std::vector<WindowQuery>& queries,
                                         const TimeWindows& windows) {
  if (auto together = run.fold_windows(queries, windows)) return together;
  std::vector<WindowQuery> recorded;
  for (const WindowQuery& query : queries) {
    if (query.series < run.recorded_series().size()) recorded.push_back(query);
  }
  TS_TRY(std::vector<WindowFold> known, run.fold_windows(recorded, windows));
  std::vector<WindowFold> folds;
  auto next = known.begin();
  for (const WindowQuery& query : queries) {
    const bool is_recorded = query.series < run.recorded_series().size();
    folds.push_back(is_recorded ? std::move(*next++) : WindowFold(windows, query.reading));
  }
  TS_CHECK_OK(fold_followed_training(run, queries, windows, folds));
  return folds;
}

// What the line about the job states, in this order.
struct JobNumber {
  std::string_view metric;
  std::string (*text)(double value);
};
constexpr JobNumber kJobNumbers[] = {
    {"job.process.count",
     [](double value) {
       const auto count = std::llround(value);
       return fmt::format("{} process{}", count, count == 1 ? "" : "es");
     }},
    {"job.thread.count", [](double value) { return counted(std::llround(value), "thread"); }},
    {"job.memory.usage", [](double value) { return bytes_text(value) + " memory"; }},
    {"job.cpu.utilization", [](double value) { return percent_text(value) + " of its CPUs"; }},
};

bool is_running_time(const Series& series) {
  return series.metric == "job.thread.time" && value_of_label(series.labels, "state") == "running";
}

// The last value of a series in these windows.
std::optional<double> last_of(const WindowFold& fold, const TimeWindows& windows) {
  for (size_t k = windows.count; k-- > 0;) {
    if (const auto value = fold.at(k)) return value;
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::optional<double>> plotted_values(const WindowFold& fold,
                                                  const TimeWindows& windows, double period_s) {
  auto most = static_cast<size_t>(std::ceil(period_s / windows.length_s - 1e-9));
  const size_t usual = usual_distance(fold, windows);
  if (most > 0 && usual > most) most = usual + usual / 2;  // not at equal distances
  std::vector<std::optional<double>> values;
  std::optional<size_t> last;
  for (size_t k = 0; k < windows.count; ++k) {
    values.push_back(fold.at(k));
    if (values[k]) {
      last = k;
    } else if (last && k - *last < most) {
      values[k] = values[*last];
    }
  }
  return values;
}

Result<TopRows> read_top_rows(const RunView& run, const ViewRequest& request,
                              const TimeWindows& windows) {
  TopRows out;
  std::vector<ChosenSeries> chosen = choose_series(run, request);
  // Devices that compete for a row of the overview may be many; its rows are few.
  const bool is_overview = request.filter.empty() && request.component == Component::overview;
  if (!is_overview && chosen.size() > kMaxRows) {
    out.left_out = chosen.size() - kMaxRows;
    chosen.resize(kMaxRows);
  }
  std::vector<WindowQuery> queries;
  for (const ChosenSeries& each : chosen) {
    queries.push_back({each.series, reading_of(run.series()[each.series])});
  }
  TS_TRY(const std::vector<WindowFold> folds, fold_all(run, queries, windows));
  const std::map<std::string, size_t> busiest = find_busiest(chosen, folds);
  for (size_t k = 0; k < chosen.size(); ++k) {
    const auto rival = busiest.find(chosen[k].rival_of);
    if (rival != busiest.end() && rival->second != k) continue;
    out.rows.push_back(
        make_row(run, chosen[k].label, run.series()[chosen[k].series], folds[k], windows));
  }
  if (out.rows.empty()) out.reason = why_no_row(request);
  return out;
}

Result<std::string> job_line(const RunView& run, const TimeWindows& windows) {
  const std::vector<Series>& series = run.recorded_series();
  std::vector<WindowQuery> queries;
  for (size_t i = 0; i < series.size(); ++i) {
    const bool is_wanted =
        is_running_time(series[i]) ||
        std::any_of(std::begin(kJobNumbers), std::end(kJobNumbers),
                    [&](const JobNumber& number) { return number.metric == series[i].metric; });
    if (is_wanted) queries.push_back({i, reading_of(series[i])});
  }
  TS_TRY(const std::vector<WindowFold> folds, run.fold_windows(queries, windows));
  std::string text, threads;
  for (const JobNumber& number : kJobNumbers) {
    for (size_t k = 0; k < queries.size(); ++k) {
      if (series[queries[k].series].metric != number.metric) continue;
      const auto value = last_of(folds[k], windows);
      if (value) text += (text.empty() ? "" : ", ") + number.text(*value);
    }
  }
  for (size_t k = 0; k < queries.size(); ++k) {
    const Series& one = series[queries[k].series];
    const auto value = last_of(folds[k], windows);
    if (!value || !is_running_time(one)) continue;
    threads += fmt::format("{} {} {}", threads.empty() ? "" : ",",
                           value_of_label(one.labels, "role"), percent_text(*value));
  }
  return threads.empty() ? text : text + "; running:" + threads;
}

}  // namespace trainscope
