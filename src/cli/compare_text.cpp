#include "cli/compare_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "cli/table.h"
#include "compare/compare.h"

namespace trainscope {

namespace {

constexpr size_t kLabelColumns = 12;
constexpr size_t kMostListedRuns = 3;

// Words of a text; a number and its unit are one.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (const std::string_view word : split(text, ' ')) {
    const bool follows_number = !words.empty() && !words.back().empty() &&
                                words.back().back() >= '0' && words.back().back() <= '9';
    const bool is_unit = word.starts_with("%") || word.starts_with("°") || word.starts_with("µs") ||
                         word.starts_with("ms") || word == "s" || word.find("iB") != word.npos ||
                         word.starts_with("GHz") || word.starts_with("W");
    if (follows_number && is_unit) {
      words.back() += " " + std::string(word);
    } else {
      words.emplace_back(word);
    }
  }
  return words;
}

// Lines of at most `width` columns; those after the first begin with as many spaces as the label
// takes.
std::string labelled(std::string_view label, std::string_view text, size_t width,
                     size_t columns = kLabelColumns) {
  std::string out = fmt::format("  {:<{}}", label, columns - 2);
  size_t used = columns;
  bool is_first = true;
  for (const std::string& word : words_of(text)) {
    const size_t size = display_width(word);
    if (!is_first && used + 1 + size > std::max(width, columns + 20)) {
      out += "\n" + std::string(columns, ' ');
      used = columns;
      is_first = true;
    }
    out += (is_first ? "" : " ") + printable(word);
    used += size + (is_first ? 0 : 1);
    is_first = false;
  }
  return out + "\n";
}

std::string metrics_text(const Comparison& comparison, const CompareStyle& style) {
  // Of metrics that differ the ratio is the verdict.
  std::vector<std::string> headings = {">A", ">B", ">B/A [95 %]", ">p"};
  if (style.all) headings.emplace_back("verdict");
  headings.emplace_back("metric");
  Table table(std::move(headings));
  size_t hidden = 0;
  for (const ComparedMetric& metric : comparison.metrics) {
    if (!style.all && !differs(metric)) {
      ++hidden;
      continue;
    }
    const ComparedNumber& number = metric.number;
    const auto cell = [&](const std::optional<double>& value) {
      return value ? quantity_text(*value, metric.unit) : std::string("-");
    };
    std::vector<std::string> cells = {cell(number.a), cell(number.b), effect_cell(metric),
                                      p_cell(number)};
    if (style.all) {
      cells.push_back(number.verdict == "cannot_tell" ? "cannot tell" : number.verdict);
    }
    cells.push_back(metric_text(metric));
    table.add(std::move(cells));
  }
  std::string out;
  if (!table.empty()) out += "\n" + table.text(style.colour, style.width, "  ");
  if (hidden > 0) {
    constexpr size_t kIndent = 2;
    const std::string text = fmt::format("{} {} or cannot be told apart; --all shows them",
                                         counted(static_cast<int64_t>(hidden), "metric"),
                                         hidden == 1 ? "does not differ" : "do not differ");
    out += "\n" + labelled("", text, style.width == 0 ? 80 : style.width, kIndent);
  }
  return out;
}

std::string explanations_text(const Comparison& comparison, size_t width) {
  constexpr size_t kColumns = 19;
  std::string out;
  for (const ComparisonExplanation& one : comparison.explanations) {
    out += "\n" + one.question + "\n";
    out += labelled("null hypothesis", one.null_hypothesis, width, kColumns);
    out += labelled("test", one.test, width, kColumns);
    out += labelled("result", one.result, width, kColumns);
  }
  out += "\nWhat was compared?\n";
  return out + labelled("part of each run", comparison.part_rule, width, kColumns);
}

}  // namespace

std::string ratio_cell(const ComparedNumber& number) {
  return number.ratio ? ratio_text(*number.ratio, number.low, number.high) : "";
}

std::string effect_cell(const ComparedMetric& metric) {
  const ComparedNumber& number = metric.number;
  if (metric.unit != "Cel" || !number.difference) return ratio_cell(number);
  return difference_text(*number.difference, number.difference_low, number.difference_high,
                         metric.unit);
}

std::string p_cell(const ComparedNumber& number) {
  if (!number.p_adjusted) return "";
  if (*number.p_adjusted < 0.001) return "<0.001";
  const bool rounds_up = *number.p_adjusted < 0.05 && *number.p_adjusted >= 0.0495;
  if (rounds_up) return "<0.050";
  return fmt::format("{:.3f}", *number.p_adjusted);
}

std::string metric_text(const ComparedMetric& metric) {
  const std::string labels = labels_text(metric.labels);
  return labels.empty() ? metric.name : metric.name + "{" + labels + "}";
}

bool differs(const ComparedMetric& metric) {
  return metric.number.verdict == "higher" || metric.number.verdict == "lower";
}

std::string side_text(const ComparedSide& side) {
  std::string names;
  double steps = 0, time_s = 0;
  size_t without = 0;  // steps
  for (size_t i = 0; i < side.runs.size(); ++i) {
    const ComparedRun& run = side.runs[i];
    if (i < kMostListedRuns) {
      names += (names.empty() ? "" : ", ") + run.id + (run.name.empty() ? "" : " " + run.name);
    }
    without += run.steps ? 0 : 1;
    steps += run.steps.value_or(0);
    time_s += run.to_s - run.from_s;
  }
  if (side.runs.size() > kMostListedRuns) {
    names += fmt::format(" and {} more", side.runs.size() - kMostListedRuns);
  }
  std::string amount = duration_text(time_s);
  if (without == 0) {
    amount = counted(static_cast<int64_t>(steps), "step") + " in " + amount;
  } else if (without == side.runs.size()) {
    amount += " without steps";
  } else {
    amount += fmt::format(", {} of {} runs without steps", without, side.runs.size());
  }
  return fmt::format("{}: {}", printable(names), amount);
}

std::string side_verdict(const ComparedSide& side) {
  std::set<std::string> all;
  for (const ComparedRun& run : side.runs) {
    all.insert(run.verdict + (run.cause.empty() ? "" : " (" + run.cause + ")"));
  }
  return fmt::format("{}", fmt::join(all, ", "));
}

std::vector<std::string> accuracy_texts(const Comparison& comparison) {
  std::vector<std::string> texts;
  for (const ComparedMetric& metric : comparison.metrics) {
    const ComparedNumber& number = metric.number;
    if (metric.name != "train.time_to_accuracy" || !number.a || !number.b) continue;
    texts.push_back(
        fmt::format("{} ({}) after {} → {}{}{}", value_of_label(metric.labels, "accuracy"),
                    value_of_label(metric.labels, "set"), duration_text(*number.a),
                    duration_text(*number.b), number.ratio ? ", " : "", ratio_cell(number)));
  }
  return texts;
}

std::string energy_text(const Comparison& comparison) {
  const ComparedNumber& energy = *comparison.energy;
  return fmt::format("{}: {} → {} per step, {}", comparison.energy_of,
                     quantity_text(*energy.a, "J/{step}"), quantity_text(*energy.b, "J/{step}"),
                     ratio_cell(energy));
}

// Of many steps: one costs next to nothing.
std::string cost_text(const Comparison& comparison) {
  constexpr double kSteps = 1000;
  const ComparedNumber& cost = *comparison.cost;
  const std::string currency = comparison.currency.empty() ? "" : comparison.currency + " ";
  return fmt::format("{} → {} {}per 1,000 steps, {}", number_text(kSteps * *cost.a),
                     number_text(kSteps * *cost.b), currency, ratio_cell(cost));
}

std::string comparison_text(const Comparison& comparison, const CompareStyle& style) {
  const size_t width = style.width == 0 ? 80 : style.width;
  std::string out = "A  " + side_text(comparison.a) + "\nB  " + side_text(comparison.b) + "\n\n";
  out += labelled("speed", comparison.speed.sentence, width);
  out += labelled("hardware", comparison.behaviour.sentence, width);
  if (!comparison.why.empty()) out += labelled("why", comparison.why, width);
  out += labelled("verdicts",
                  "A " + side_verdict(comparison.a) + "; B " + side_verdict(comparison.b), width);
  for (const std::string& text : accuracy_texts(comparison)) {
    out += labelled("accuracy", text, width);
  }
  if (comparison.energy) out += labelled("energy", energy_text(comparison), width);
  if (comparison.cost) out += labelled("cost", cost_text(comparison), width);
  for (const ComparisonWarning& warning : comparison.warnings) {
    out += labelled("warning", warning.summary, width);
  }
  if (style.explain) out += explanations_text(comparison, width);
  return out + metrics_text(comparison, style);
}

}  // namespace trainscope
