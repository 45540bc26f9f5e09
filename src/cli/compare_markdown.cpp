// A comparison as Markdown, for pull requests.
#include <fmt/format.h>

#include "cli/compare_text.h"
#include "compare/compare.h"
#include "report/report.h"

namespace trainscope {

namespace {

std::string markdown_row(const std::string& name, const ComparedMetric& metric) {
  const ComparedNumber& number = metric.number;
  const auto cell = [&](const std::optional<double>& value) {
    // Units of counters and currencies are text of the user's.
    return value ? markdown_escaped(quantity_text(*value, metric.unit)) : std::string("–");
  };
  const std::string verdict = number.verdict == "cannot_tell" ? "cannot tell" : number.verdict;
  return fmt::format("| {} | {} | {} | {} | {} | {} |\n", markdown_escaped(name), cell(number.a),
                     cell(number.b), markdown_escaped(effect_cell(metric)),
                     markdown_escaped(p_cell(number)), verdict);
}

std::string explanations_markdown(const Comparison& comparison) {
  std::string out;
  for (const ComparisonExplanation& one : comparison.explanations) {
    out += fmt::format("\n**{}** Null hypothesis: {}. Test: {}. Result: {}.\n",
                       markdown_escaped(one.question), markdown_escaped(one.null_hypothesis),
                       markdown_escaped(one.test), markdown_escaped(one.result));
  }
  return out + fmt::format("\n**What was compared?** Part of each run: {}.\n",
                           markdown_escaped(comparison.part_rule));
}

}  // namespace

std::string comparison_markdown(const Comparison& comparison, const CompareStyle& style) {
  std::string out = "**" + markdown_escaped(comparison.speed.sentence) + "**\n\n";
  out += markdown_escaped(comparison.behaviour.sentence) + "\n\n";
  if (!comparison.why.empty()) out += "Why: " + markdown_escaped(comparison.why) + "\n\n";
  out += fmt::format("Verdicts: A {}; B {}\n\n", markdown_escaped(side_verdict(comparison.a)),
                     markdown_escaped(side_verdict(comparison.b)));
  for (const std::string& text : accuracy_texts(comparison)) {
    out += "Accuracy: " + markdown_escaped(text) + "\n\n";
  }
  if (comparison.energy) out += "Energy: " + markdown_escaped(energy_text(comparison)) + "\n\n";
  if (comparison.cost) out += "Cost: " + markdown_escaped(cost_text(comparison)) + "\n\n";
  out += fmt::format("A {}  \nB {}\n\n", markdown_escaped(side_text(comparison.a)),
                     markdown_escaped(side_text(comparison.b)));
  out += "| | A | B | B/A [95 %] | p | verdict |\n|---|---:|---:|---:|---:|---|\n";
  for (const ComparedMetric& metric : comparison.metrics) {
    const bool is_step_time = metric.name == "train.step.duration";
    if (!style.all && !differs(metric) && !is_step_time) continue;
    out += markdown_row(is_step_time ? "time per step" : metric_text(metric), metric);
  }
  if (!comparison.warnings.empty()) out += "\n";
  for (const ComparisonWarning& warning : comparison.warnings) {
    out += "- Warning: " + markdown_escaped(warning.summary) + "\n";
  }
  if (style.explain) out += explanations_markdown(comparison);
  return out;
}

}  // namespace trainscope
