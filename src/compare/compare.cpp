#include "compare/compare.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "compare/sides.h"

namespace trainscope {

namespace {

// The shortest run limits all of them, so each is opened once more.
Result<PartLimits> limits_of(const std::vector<std::string>& paths, Align align,
                             const OpenRun& open_run) {
  if (align == Align::progress) return PartLimits();
  std::vector<RunPart> parts;
  for (const std::string& path : paths) {
    TS_TRY(const auto run, open_run(path));
    parts.push_back(whole_part(*run));
  }
  return common_limits(parts, align);
}

Result<std::vector<ObservedRun>> observe_runs(const std::vector<std::string>& paths,
                                              const PartLimits& limits, const OpenRun& open_run) {
  std::vector<ObservedRun> runs;
  for (const std::string& path : paths) {
    TS_TRY(const auto run, open_run(path));
    TS_TRY(ObservedRun observed, observe_run(*run, limits));
    runs.push_back(std::move(observed));
  }
  return runs;
}

ComparedSide side_of(const std::vector<ObservedRun>& runs) {
  ComparedSide side;
  for (const ObservedRun& run : runs) side.runs.push_back(run.run);
  return side;
}

bool has_any_steps(const Sides& sides) {
  const auto has_steps = [](const ObservedRun& run) { return run.steps.has_value(); };
  return std::any_of(sides.a.begin(), sides.a.end(), has_steps) ||
         std::any_of(sides.b.begin(), sides.b.end(), has_steps);
}

// A number without a ratio is not of all runs, or of steps that cost nothing.
void add_energy_and_cost(Comparison& comparison) {
  for (const ComparedMetric& metric : comparison.metrics) {
    if (!metric.number.ratio || metric.labels.empty()) continue;
    if (metric.name == "train.energy_per_step") {
      comparison.energy = metric.number;
      comparison.energy_of = metric.labels.front().second;
    } else if (metric.name == "train.cost_per_step") {
      comparison.cost = metric.number;
      comparison.currency = metric.labels.front().second;
    }
  }
}

}  // namespace

Result<Comparison> compare_runs(const std::vector<std::string>& a,
                                const std::vector<std::string>& b, const CompareOptions& options,
                                const OpenRun& open_run) {
  std::vector<std::string> all = a;
  all.insert(all.end(), b.begin(), b.end());
  TS_TRY(const PartLimits limits, limits_of(all, options.align, open_run));
  Sides sides;
  TS_TRY(sides.a, observe_runs(a, limits, open_run));
  TS_TRY(sides.b, observe_runs(b, limits, open_run));
  Comparison comparison;
  comparison.a = side_of(sides.a);
  comparison.b = side_of(sides.b);
  comparison.is_between_runs = sides.is_between_runs();
  comparison.same_within = options.same_within.value_or(kSameSpeed);
  comparison.same_metric_within = options.same_within.value_or(kSameMetric);
  comparison.part_rule = part_rule_text(options.align, has_any_steps(sides), limits);
  comparison.speed = compare_speed(sides, comparison.same_within);
  comparison.metrics =
      compare_metrics(sides, {comparison.same_within, comparison.same_metric_within});
  comparison.behaviour = judge_behaviour(comparison.metrics);
  comparison.attribution = attribute_difference(sides);
  add_energy_and_cost(comparison);
  comparison.speed.sentence = speed_sentence(comparison, sides);
  comparison.behaviour.sentence = behaviour_sentence(comparison);
  comparison.why = why_text(comparison, sides);
  comparison.warnings = find_warnings(sides, comparison);
  comparison.explanations = explain(comparison, sides);
  return comparison;
}

Result<double> parse_percent(std::string_view text) {
  const bool has_sign = text.ends_with('%');
  const auto number = has_sign ? parse_number(trim(text.substr(0, text.size() - 1))) : std::nullopt;
  if (!number || !(*number >= 0) || !(*number <= 1000)) {
    return Error(fmt::format("'{}' is not a percentage; try 5%", text));
  }
  return *number / 100;
}

Result<FailIf> parse_fail_if(std::string_view text) {
  constexpr std::string_view kSlower = "slower:";
  const auto percent = text.starts_with(kSlower) ? parse_percent(text.substr(kSlower.size()))
                                                 : Result<double>(Error(""));
  if (!percent) {
    return Error(fmt::format("invalid condition '{}' for --fail-if; try slower:5%", text));
  }
  return FailIf{*percent};
}

FailIfAnswer check_fail_if(const FailIf& condition, const ComparedSpeed& speed) {
  if (!speed.low) return FailIfAnswer::cannot_tell;
  const double bound = 1 / (1 + condition.slower);
  if (speed.high && *speed.high < bound) return FailIfAnswer::fires;
  return *speed.low >= bound ? FailIfAnswer::holds : FailIfAnswer::cannot_tell;
}

}  // namespace trainscope
