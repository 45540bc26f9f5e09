#include "model/job_gpus.h"

#include <algorithm>

namespace trainscope {

Result<std::set<std::string>> gpus_of_job(const RunView& run, double begin_s, double end_s) {
  const std::vector<Series>& series = run.recorded_series();
  std::vector<WindowQuery> queries;
  std::vector<std::string> gpus;
  for (size_t i = 0; i < series.size(); ++i) {
    const bool is_absent = series[i].status == SeriesStatus::absent;
    if (series[i].metric != "job.gpu.memory.usage" || is_absent) continue;
    queries.push_back({i, Reading::level});
    gpus.emplace_back(value_of_label(series[i].labels, "gpu"));
  }
  const TimeWindows whole{begin_s, std::max(end_s - begin_s, 1e-3), 1};
  TS_TRY(const std::vector<WindowFold> folds, run.fold_windows(queries, whole));
  std::set<std::string> used;
  for (size_t i = 0; i < gpus.size(); ++i) {
    if (folds[i].mean().value_or(0) > 0) used.insert(gpus[i]);
  }
  return used;
}

}  // namespace trainscope
