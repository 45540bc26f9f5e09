#include "cli/top_threads.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "cli/table.h"
#include "cli/top_rows.h"

namespace trainscope {

namespace {

// The first three in this order, then workers by number.
std::pair<int, int64_t> place_of_role(const std::string& role) {
  if (role == "main") return {0, 0};
  if (role == "busiest") return {1, 0};
  if (role == "pin") return {2, 0};
  constexpr std::string_view kWorker = "worker";
  const bool is_worker = role.starts_with(kWorker);
  return {3, is_worker ? parse_integer(role.substr(kWorker.size())).value_or(0) : 0};
}

struct RoleOrder {
  bool operator()(const std::string& a, const std::string& b) const {
    return std::pair(place_of_role(a), a) < std::pair(place_of_role(b), b);
  }
};

// Places in the list of queries.
struct RoleQueries {
  std::optional<size_t> running, runnable, blocked, disk;
};
using Roles = std::map<std::string, RoleQueries, RoleOrder>;

std::optional<size_t>* part_of(RoleQueries& role, const Series& series) {
  if (series.metric == "job.thread.blocked") {
    return value_of_label(series.labels, "on") == "disk" ? &role.disk : nullptr;
  }
  const std::string_view state = value_of_label(series.labels, "state");
  if (state == "running") return &role.running;
  if (state == "runnable") return &role.runnable;
  return state == "blocked" ? &role.blocked : nullptr;
}

bool has_words(const std::string& role, const std::string& filter) {
  const auto words = fields(filter);
  return std::all_of(words.begin(), words.end(), [&](std::string_view word) {
    return role.find(lower(word)) != std::string::npos;
  });
}

double seconds_of(const WindowFold& fold, const TimeWindows& windows) {
  double sum = 0;
  for (size_t k = 0; k < windows.count; ++k) sum += fold.at(k).value_or(0) * fold.weight(k);
  return sum;
}

ThreadRow make_row(const std::string& name, const RoleQueries& role, const Series& running,
                   const std::vector<WindowFold>& folds, const TimeWindows& windows) {
  const auto seconds = [&](const std::optional<size_t>& query) {
    return query ? seconds_of(folds[*query], windows) : 0;
  };
  ThreadRow row;
  row.running = {name, plotted_values(folds[*role.running], windows, running.period_s), 0, 1, "",
                 ""};
  const double all = seconds(role.running) + seconds(role.runnable) + seconds(role.blocked);
  if (all <= 0) return row;  // nobody had the role then
  row.running.value = percent_text(seconds(role.running) / all);
  row.runnable = percent_text(seconds(role.runnable) / all);
  row.blocked = percent_text(seconds(role.blocked) / all);
  if (role.disk) row.disk = percent_text(seconds(role.disk) / all);
  return row;
}

}  // namespace

Result<TopThreads> read_top_threads(const RunView& run, const ViewRequest& request,
                                    const TimeWindows& windows) {
  const std::vector<Series>& series = run.recorded_series();
  Roles roles;
  std::vector<WindowQuery> queries;
  for (size_t i = 0; i < series.size(); ++i) {
    const bool is_of_thread =
        series[i].metric == "job.thread.time" || series[i].metric == "job.thread.blocked";
    const std::string role(value_of_label(series[i].labels, "role"));
    if (!is_of_thread || series[i].status == SeriesStatus::absent) continue;
    if (!has_words(role, request.filter)) continue;
    std::optional<size_t>* const part = part_of(roles[role], series[i]);
    if (part == nullptr) continue;
    *part = queries.size();
    queries.push_back({i, Reading::rate});
  }
  TopThreads out;
  TS_TRY(const std::vector<WindowFold> folds, run.fold_windows(queries, windows));
  for (const auto& [name, role] : roles) {
    if (!role.running) continue;
    const Series& running = series[queries[*role.running].series];
    out.rows.push_back(make_row(name, role, running, folds, windows));
  }
  if (!out.rows.empty()) return out;
  out.reason =
      request.filter.empty()
          ? "nothing was recorded of the job's threads; `trainscope doctor` states why"
          : fmt::format("no thread matches '{}'; escape removes the filter", request.filter);
  return out;
}

}  // namespace trainscope
