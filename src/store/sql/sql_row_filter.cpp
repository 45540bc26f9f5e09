#include "store/sql/sql_row_filter.h"

namespace trainscope {

const std::string& LabelledRun::labels_of(size_t series) {
  while (labels.size() <= series) {
    labels.push_back(labels_text(view->series_at(labels.size()).labels));
  }
  return labels[series];
}

std::vector<size_t> RowFilter::select_runs(const QueriedRuns& runs) const {
  std::vector<size_t> selected;
  for (size_t i = 0; i < runs.size(); ++i) {
    const Manifest& m = runs.manifest(i);
    if ((run && m.id != *run) || (rank && m.rank != *rank)) continue;
    selected.push_back(i);
  }
  return selected;
}

std::vector<size_t> RowFilter::select_series(LabelledRun& run) const {
  // Reported progress is not read for other metrics.
  const bool may_be_training = !metric || metric->starts_with("train.");
  const auto& all = may_be_training ? run.view->series() : run.view->recorded_series();
  std::vector<size_t> selected;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].status == SeriesStatus::absent || (metric && all[i].metric != *metric)) continue;
    if (!labels || run.labels_of(i) == *labels) selected.push_back(i);
  }
  return selected;
}

}  // namespace trainscope
