#include "cli/group_summary.h"

#include <algorithm>
#include <cmath>

#include "cli/reading.h"
#include "model/training.h"

namespace trainscope {

namespace {

using MeasuredValues = std::array<std::optional<double>, kGroupMeasures.size()>;

std::optional<double> summary_value(const RunView& run, std::string_view metric,
                                    std::optional<double> Summary::*value) {
  const std::vector<Series>& series = run.recorded_series();
  for (size_t i = 0; i < series.size(); ++i) {
    if (series[i].metric != metric || series[i].status == SeriesStatus::absent) continue;
    const auto summary = run.summary(i);
    if (summary) return (*summary).*value;
  }
  return std::nullopt;
}

// In the order of kGroupMeasures.
MeasuredValues measure_run(const RunView& run) {
  MeasuredValues values;
  const Training& training = run.training();
  values[0] = run.duration_s();
  if (training.count) values[1] = static_cast<double>(*training.count);
  values[2] = training.steps_per_s;
  const StepStatistics& steps = training.statistics;
  values[3] = steps.p50_s ? steps.p50_s : steps.mean_s;
  values[4] = summary_value(run, "job.cpu.utilization", &Summary::mean);
  values[5] = summary_value(run, "job.memory.usage", &Summary::max);
  return values;
}

double median_of(std::vector<double> sorted) {
  std::sort(sorted.begin(), sorted.end());
  const size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

Spread spread_of(const std::vector<GroupMember>& members, size_t measure) {
  Spread spread;
  std::vector<double> values;
  for (size_t at = 0; at < members.size(); ++at) {
    const std::optional<double>& value = members[at].values[measure];
    if (!value) continue;
    if (values.empty() || *value < spread.min) spread.min_at = at;
    if (values.empty() || *value > spread.max) spread.max_at = at;
    spread.min = values.empty() ? *value : std::min(spread.min, *value);
    spread.max = values.empty() ? *value : std::max(spread.max, *value);
    spread.mean += *value;
    values.push_back(*value);
  }
  spread.count = values.size();
  if (values.empty()) return spread;
  spread.mean /= static_cast<double>(values.size());
  spread.median = median_of(values);
  if (values.size() < 2) return spread;
  double squares = 0;
  for (const double value : values) squares += (value - spread.mean) * (value - spread.mean);
  spread.standard_deviation = std::sqrt(squares / static_cast<double>(values.size() - 1));
  return spread;
}

std::optional<SlowestRank> find_slowest(const GroupSummary& summary) {
  if (summary.group.kind != GroupKind::ranks) return std::nullopt;
  for (const size_t measure : {kStepTimeMeasure, kDurationMeasure}) {
    const Spread& spread = summary.spreads[measure];
    if (spread.count < 2) continue;
    if (spread.max == spread.min) return std::nullopt;
    return SlowestRank{spread.max_at, measure, spread.max, spread.median};
  }
  return std::nullopt;
}

}  // namespace

GroupSummary summarize_group(const RunGroup& group, std::vector<GroupMember> members) {
  GroupSummary summary;
  summary.group = group;
  summary.members = std::move(members);
  for (size_t measure = 0; measure < kGroupMeasures.size(); ++measure) {
    summary.spreads[measure] = spread_of(summary.members, measure);
  }
  summary.slowest = find_slowest(summary);
  return summary;
}

GroupSummary read_group(const RunGroup& group) {
  std::vector<GroupMember> members;
  for (const std::string& path : group.paths) {
    GroupMember& member = members.emplace_back();
    member.run = list_run(path);
    const auto run = open_found_run(path);
    if (run) member.values = measure_run(**run);
    if (!run && member.run.problem.empty()) member.run.problem = run.error().message();
  }
  return summarize_group(group, std::move(members));
}

std::optional<size_t> machine_member(const GroupSummary& summary, size_t at) {
  const Manifest& wanted = summary.members[at].run.manifest;
  if (wanted.records_machine) return at;
  for (size_t i = 0; i < summary.members.size(); ++i) {
    const Manifest& other = summary.members[i].run.manifest;
    if (other.records_machine && is_same_machine(other, wanted)) return i;
  }
  return std::nullopt;
}

}  // namespace trainscope
