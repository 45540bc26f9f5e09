#include "model/model.h"

#include <algorithm>
#include <array>

namespace trainscope {

namespace {

constexpr std::array<std::string_view, 3> kRunStatuses = {"running", "ended", "damaged"};
constexpr std::array<std::string_view, 7> kEndedBy = {
    "", "exit", "signal", "time_limit", "not_started", "detached", "unknown"};

}  // namespace

std::string_view run_status_name(RunStatus status) {
  return kRunStatuses[static_cast<size_t>(status)];
}

std::string_view ended_by_name(EndedBy ended_by) { return kEndedBy[static_cast<size_t>(ended_by)]; }

EndedBy ended_by_from_name(std::string_view name) {
  for (size_t i = 0; i < kEndedBy.size(); ++i) {
    if (kEndedBy[i] == name) return static_cast<EndedBy>(i);
  }
  return EndedBy::unknown;
}

Result<std::vector<Points>> RunView::points_of(const std::vector<size_t>& series,
                                               const Range& range) const {
  std::vector<Points> all;
  for (const size_t i : series) {
    TS_TRY(Points points, this->points(i, range));
    all.push_back(std::move(points));
  }
  return all;
}

Result<std::vector<Summary>> RunView::summaries_of(const std::vector<size_t>& series) const {
  std::vector<Summary> all;
  for (const size_t i : series) {
    TS_TRY(const Summary summary, this->summary(i));
    all.push_back(summary);
  }
  return all;
}

std::vector<Range> RunView::parts_of(const TimeWindows& windows) const { return {all_of(windows)}; }

Result<std::vector<WindowFold>> RunView::fold_windows(const std::vector<WindowQuery>& queries,
                                                      const TimeWindows& windows) const {
  std::vector<size_t> series;
  std::vector<WindowFold> folds;
  for (const WindowQuery& query : queries) {
    series.push_back(query.series);
    folds.emplace_back(windows, query.reading, query.has_extremes);
  }
  if (series.empty()) return folds;
  for (const Range& part : parts_of(windows)) {
    TS_TRY(const std::vector<Points> points, points_of(series, part));
    for (size_t i = 0; i < folds.size(); ++i) folds[i].add(points[i]);
  }
  return folds;
}

ReportedSamples reported_samples(const RunView& run, const std::vector<size_t>& series) {
  ReportedSamples samples;
  for (const size_t i : series) {
    if (i < run.recorded_series().size()) continue;
    const auto summary = run.summary(i);
    if (!summary) continue;
    samples.all += summary->samples;
    samples.most_of_one = std::max(samples.most_of_one, summary->samples);
  }
  return samples;
}

}  // namespace trainscope
