#include "document/group_summary.h"

#include <algorithm>
#include <cmath>

#include "analyze/analyze.h"
#include "base/statistics.h"
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

// A rank that needs less than this much more than the median is not slow: steps of ranks that wait
// for each other differ only by how exactly they are measured.
constexpr double kLeastLead = 0.05;

Spread spread_of(const std::vector<std::optional<double>>& of_members) {
  Spread spread;
  std::vector<double> values;
  for (size_t at = 0; at < of_members.size(); ++at) {
    const std::optional<double>& value = of_members[at];
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

std::optional<SlowestRank> slowest_by(const GroupMeasure& measure, const Spread& spread) {
  if (!(spread.max > (1 + kLeastLead) * spread.median)) return std::nullopt;
  return SlowestRank{spread.max_at, measure, spread.max, spread.median};
}

std::optional<SlowestRank> find_slowest(const GroupSummary& summary) {
  if (summary.group.kind != GroupKind::ranks) return std::nullopt;
  std::vector<std::optional<double>> own;
  for (const GroupMember& member : summary.members) own.push_back(member.own_step_s);
  const Spread own_work = spread_of(own);
  const Spread& step_time = summary.spreads[kStepTimeMeasure];
  if (own_work.count > 1 && own_work.count == step_time.count) {
    return slowest_by(kOwnWork, own_work);
  }
  for (const size_t measure : {kStepTimeMeasure, kDurationMeasure}) {
    const Spread& spread = summary.spreads[measure];
    if (spread.count > 1) return slowest_by(kGroupMeasures[measure], spread);
  }
  return std::nullopt;
}

}  // namespace

GroupSummary summarize_group(const RunGroup& group, std::vector<GroupMember> members) {
  GroupSummary summary;
  summary.group = group;
  summary.members = std::move(members);
  for (size_t measure = 0; measure < kGroupMeasures.size(); ++measure) {
    std::vector<std::optional<double>> values;
    for (const GroupMember& member : summary.members) values.push_back(member.values[measure]);
    summary.spreads[measure] = spread_of(values);
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
    if (run) {
      member.values = measure_run(**run);
      member.own_step_s = own_step_s((*run)->training());
    }
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
