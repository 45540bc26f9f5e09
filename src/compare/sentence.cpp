// The answers in words.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "compare/sides.h"

namespace trainscope {

namespace {

constexpr size_t kMostNamed = 4;           // metrics in one sentence
constexpr double kSameLength = 0.02;       // runs that lasted the same time
constexpr double kWorthNamingShare = 0.1;  // of a difference

// As many as the ratio itself needs: 0.0012, 0.77, 1.003, 1.30, 10.0.
int ratio_decimals(double ratio) {
  constexpr int kMost = 9;
  if (std::abs(ratio - 1) < 0.1) return 3;
  if (ratio >= 9.95) return 1;
  if (ratio >= 0.095 || !(ratio > 0)) return 2;
  return static_cast<int>(std::min<double>(kMost, 1 + std::ceil(-std::log10(ratio))));
}

// As many as show that an interval leaves out 1: not "B is slower: 0.960 [0.923, 1.000]".
int decimals_without_one(double low, std::optional<double> high, int least) {
  constexpr int kMost = 6;
  double distance = INFINITY;
  if (low > 1) distance = low - 1;
  if (high && *high < 1) distance = 1 - *high;
  for (int digits = least; digits <= kMost; ++digits) {
    if (distance > std::pow(10, -digits) / 2) return digits;
  }
  return least;
}

double part_length(const std::vector<ObservedRun>& runs) {
  double sum_s = 0;
  for (const ObservedRun& run : runs) sum_s += run.part.end_s - run.part.begin_s;
  return sum_s / static_cast<double>(runs.size());
}

double mean_steps(const std::vector<ObservedRun>& runs) {
  double sum = 0;
  for (const ObservedRun& run : runs) sum += run.steps ? run.steps->steps : 0;
  return sum / static_cast<double>(runs.size());
}

// ", 3421 → 34264 steps in 1 h 15 min", if both sides took the same time; otherwise "".
std::string steps_in_time(const Sides& sides) {
  const double a_s = part_length(sides.a), b_s = part_length(sides.b);
  if (!(std::abs(a_s - b_s) <= kSameLength * std::max(a_s, b_s))) return "";
  return fmt::format(", {:.0f} → {:.0f} steps in {}", mean_steps(sides.a), mean_steps(sides.b),
                     duration_text(std::min(a_s, b_s)));
}

std::optional<double> mean_batch(const std::vector<ObservedRun>& runs) {
  double sum = 0;
  for (const ObservedRun& run : runs) {
    if (!run.facts.batch) return std::nullopt;
    sum += *run.facts.batch;
  }
  return sum / static_cast<double>(runs.size());
}

// ", and 1.01× [0.98, 1.03] as many items (batches of 16 → 32)" if steps are not the same work;
// otherwise "".
std::string items_text(const Comparison& comparison, const Sides& sides) {
  const auto a = mean_batch(sides.a), b = mean_batch(sides.b);
  if (!a || !b || *a == *b) return "";
  const std::string batches = fmt::format("batches of {} → {}", number_text(*a), number_text(*b));
  for (const ComparedMetric& metric : comparison.metrics) {
    const ComparedNumber& number = metric.number;
    if (metric.name != "train.throughput" || !number.ratio) continue;
    return fmt::format(", and {} as many items ({})",
                       ratio_text(*number.ratio, number.low, number.high, "×"), batches);
  }
  return fmt::format(" ({})", batches);
}

std::string needed_text(const ComparedSpeed& speed) {
  if (!speed.steps_needed && !speed.repeats_needed) return "";
  const std::string amount = speed.repeats_needed
                                 ? fmt::format("{:.0f} repeats", *speed.repeats_needed)
                                 : count_text(*speed.steps_needed) + " steps";
  return fmt::format("; about {} per side would find a difference of {} %", amount,
                     number_text(100 * speed.needed_for));
}

std::string change_text(const ComparedMetric& metric) {
  return fmt::format("{} {} → {}", metric.title, quantity_text(*metric.number.a, metric.unit),
                     quantity_text(*metric.number.b, metric.unit));
}

// Metrics with one of these verdicts, at most kMostNamed of them.
std::string named_metrics(const Comparison& comparison, std::string_view one,
                          std::string_view other) {
  std::string text;
  size_t named = 0, more = 0;
  for (const ComparedMetric& metric : comparison.metrics) {
    const std::string& verdict = metric.number.verdict;
    if (!metric.is_main || !metric.number.p_adjusted) continue;
    if (verdict != one && verdict != other) continue;
    if (named == kMostNamed) {
      ++more;
      continue;
    }
    text += (named++ == 0 ? "" : ", ") + change_text(metric);
  }
  return more == 0 ? text : fmt::format("{} and {} more", text, more);
}

// Of the breakdown, for sentences.
std::string part_text(const std::string& part) {
  return part == "unexplained" ? "unexplained time" : part;
}

// "1.2 ms of 1.4 ms per step come from input wait, 240 µs from host work"; where parts offset each
// other "60 ms less input wait, 30 ms more host work: together 30 ms less per step". Pauses follow.
std::string division_text(const std::vector<AttributedPart>& parts, double whole_s) {
  const std::string whole = duration_text(std::abs(whole_s));
  std::string causes, changes, pauses;
  bool has_offset = false;
  for (const AttributedPart& part : parts) {
    if (std::abs(part.difference_s) < kWorthNamingShare * std::abs(whole_s)) continue;
    const std::string size = duration_text(std::abs(part.difference_s));
    const std::string name = part_text(part.part);
    const std::string_view change = part.difference_s > 0 ? "more" : "less";
    if (!part.share) {
      pauses += fmt::format("; {} takes {} {}", name, size, change);
      continue;
    }
    has_offset |= *part.share < 0;
    causes += causes.empty() ? fmt::format("{} of {} per step come from {}", size, whole, name)
                             : fmt::format(", {} from {}", size, name);
    changes += fmt::format("{}{} {} {}", changes.empty() ? "" : ", ", size, change, name);
  }
  if (!has_offset) return causes + pauses;
  return fmt::format("{}: together {} {} per step{}", changes, whole, whole_s > 0 ? "more" : "less",
                     pauses);
}

// "smallest adjusted p = 0.60 of 5 main metrics; 8 more are the same"
std::string smallest_p_text(const Comparison& comparison) {
  const ComparedBehaviour& behaviour = comparison.behaviour;
  const auto same = static_cast<size_t>(std::count_if(
      comparison.metrics.begin(), comparison.metrics.end(), [](const ComparedMetric& metric) {
        return metric.is_main && metric.number.p_adjusted && metric.number.verdict == "same";
      }));
  const bool is_mixed = same > 0 && same < behaviour.main_metrics;
  const size_t others = behaviour.main_metrics - (is_mixed ? same : 0);
  std::string text = fmt::format("smallest adjusted {} of {}", p_text(*behaviour.p),
                                 counted(static_cast<int64_t>(others), "main metric"));
  if (is_mixed) text += fmt::format("; {} more {} the same", same, same == 1 ? "is" : "are");
  return text;
}

std::string effective_text(const ComparedSpeed& speed, const Sides& sides) {
  if (sides.is_between_runs()) {
    return fmt::format("t-test of the mean step times of {} and {} runs", sides.a.size(),
                       sides.b.size());
  }
  return fmt::format(
      "t-test of the means of blocks of consecutive steps; neighbouring blocks are alike, so those "
      "of A count as {} independent ones and those of B as {}",
      number_text(speed.effective_a.value_or(0)), number_text(speed.effective_b.value_or(0)));
}

}  // namespace

std::string quantity_text(double value, std::string_view unit) {
  if (unit == "1") return fmt::format("{:.1f} %", 100 * value);
  if (unit == "By") return bytes_text(value);
  if (unit == "By/s") return bytes_text(value) + "/s";
  if (unit == "s") return value == 0 ? "0 s" : duration_text(value);
  if (unit == "s/s") return fmt::format("{:.1f} %", 100 * value);
  if (unit == "Cel") return fmt::format("{:.1f} °C", value);
  if (unit == "Hz") return fmt::format("{} GHz", number_text(value / 1e9));
  if (unit == "J/s") return number_text(value) + " W";
  constexpr std::string_view kPerStep = "/{step}";
  if (unit.ends_with(kPerStep)) {
    const std::string_view amount = unit.substr(0, unit.size() - kPerStep.size());
    constexpr double kSmall = 0.001;  // as the cost of one step
    const std::string number =
        value > 0 && value < kSmall ? fmt::format("{:.3g}", value) : number_text(value);
    return number + (amount.starts_with('{') ? "" : " " + std::string(amount));
  }
  const bool is_rate = unit.ends_with("/s");
  const std::string_view thing = is_rate ? unit.substr(0, unit.size() - 2) : unit;
  const bool is_annotation = thing.starts_with('{') || thing.empty() || thing == "1";
  const std::string number = std::abs(value) >= 10 ? count_text(value) : number_text(value);
  return number + (is_annotation ? "" : " " + std::string(thing)) + (is_rate ? "/s" : "");
}

std::string difference_text(double difference, std::optional<double> low,
                            std::optional<double> high, std::string_view unit) {
  const std::string sign = difference > 0 ? "+" : "";
  std::string text = sign + quantity_text(difference, unit);
  if (low && high) text += fmt::format(" [{:.1f}, {:.1f}]", *low, *high);
  return text;
}

std::string ratio_text(double ratio) { return ratio_text(ratio, std::nullopt, std::nullopt, "×"); }

std::string ratio_text(double ratio, std::optional<double> low, std::optional<double> high,
                       std::string_view sign) {
  constexpr int kMost = 3;
  int digits = ratio_decimals(ratio);
  // A narrow interval would look as if it had no width.
  const bool is_narrow = low && high && *high - *low < 2 * std::pow(10, -digits);
  if (is_narrow && digits < kMost) ++digits;
  if (low) digits = decimals_without_one(*low, high, digits);
  std::string alone = fmt::format("{:.{}f}{}", ratio, digits, sign);
  if (!low) return alone;
  const std::string top = high ? fmt::format("{:.{}f}", *high, digits) : "∞";
  return fmt::format("{} [{:.{}f}, {}]", alone, *low, digits, top);
}

std::string p_text(double p) {
  if (p < 0.001) return "p < 0.001";
  return fmt::format("p = {:.{}f}", p, p < 0.1 ? 3 : 2);
}

std::string scope_text(const Comparison& comparison) {
  const size_t a = comparison.a.runs.size(), b = comparison.b.runs.size();
  if (comparison.is_between_runs) return fmt::format("over {} runs of A and {} of B", a, b);
  return fmt::format(
      "this is about these {} runs; a statement about the configurations needs repeats on both "
      "sides",
      a + b == 2 ? "two" : std::to_string(a + b));
}

std::string speed_sentence(const Comparison& comparison, const Sides& sides) {
  const ComparedSpeed& speed = comparison.speed;
  if (!speed.ratio) return "Training speed was not compared: " + speed.reason + ".";
  const std::string answer = fmt::format("{} as many steps per second{}, {} → {} per step{}",
                                         ratio_text(*speed.ratio, speed.low, speed.high, "×"),
                                         items_text(comparison, sides), duration_text(*speed.a_s),
                                         duration_text(*speed.b_s), steps_in_time(sides));
  const std::string scope = " (" + scope_text(comparison) + ").";
  if (speed.verdict == "faster" || speed.verdict == "slower") {
    return fmt::format("B is {}: {}{}", speed.verdict, answer, scope);
  }
  if (speed.verdict == "same") {
    return fmt::format("A and B are equally fast within {} %: {}{}",
                       number_text(100 * comparison.same_within), answer, scope);
  }
  const std::string reason = speed.reason.empty() ? needed_text(speed) : "; " + speed.reason;
  return fmt::format("Whether B is faster or slower cannot be told: {}{}{}", answer, reason, scope);
}

std::string behaviour_sentence(const Comparison& comparison) {
  const ComparedBehaviour& behaviour = comparison.behaviour;
  const std::string scope = " (" + scope_text(comparison) + ").";
  if (behaviour.verdict == "different") {
    return "The hardware behaves differently: " + named_metrics(comparison, "higher", "lower") +
           scope;
  }
  if (behaviour.verdict == "same") {
    return fmt::format(
        "The hardware behaves the same: each metric within {} %, one percentage point, 1 °C or 100 "
        "KiB/s of the other side's: {}{}",
        number_text(100 * comparison.same_metric_within), named_metrics(comparison, "same", "same"),
        scope);
  }
  if (behaviour.main_metrics == 0) {
    return "Hardware behaviour was not compared: no main metric has enough values on both sides.";
  }
  return "Whether the hardware behaves differently cannot be told: " +
         named_metrics(comparison, "cannot_tell", "cannot_tell") + scope;
}

std::string why_text(const Comparison& comparison, const Sides& sides) {
  const std::string& verdict = comparison.speed.verdict;
  if (comparison.attribution.empty() || (verdict != "faster" && verdict != "slower")) return "";
  for (const auto* runs : {&sides.a, &sides.b}) {
    for (const ObservedRun& run : *runs) {
      if (!run.has_phases) {
        return fmt::format("unknown: {} reports no phases; see docs/guide/progress.md",
                           runs == &sides.a ? "A" : "B");
      }
    }
  }
  double whole_s = 0;
  for (const AttributedPart& part : comparison.attribution) {
    if (part.share) whole_s += part.difference_s;
  }
  if (whole_s == 0 || (whole_s > 0) != (verdict == "slower")) {
    return "unknown: the breakdown does not show this difference";
  }
  return division_text(comparison.attribution, whole_s);
}

std::vector<ComparisonExplanation> explain(const Comparison& comparison, const Sides& sides) {
  const ComparedSpeed& speed = comparison.speed;
  std::vector<ComparisonExplanation> all;
  ComparisonExplanation faster{"Is training faster?",
                               "the mean time per step is the same in A and in B", "none",
                               speed.reason};
  if (speed.p) {
    faster.test = effective_text(speed, sides);
    faster.result = p_text(*speed.p);
    if (speed.permutation_p) {
      faster.result +=
          "; by permuting blocks or runs, which assumes less, " + p_text(*speed.permutation_p);
    }
  }
  all.push_back(std::move(faster));
  const auto tested = static_cast<size_t>(
      std::count_if(comparison.metrics.begin(), comparison.metrics.end(), [](const auto& metric) {
        return metric.number.p.has_value() && !is_of_training(metric.name);
      }));
  ComparisonExplanation differs{"Does the hardware behave differently?",
                                "every main metric has the same mean in A and in B", "none",
                                "no main metric has enough values on both sides"};
  if (comparison.behaviour.p) {
    differs.test = fmt::format(
        "t-test per metric of the means of windows of time; p-values adjusted for {} metrics of "
        "the hardware "
        "(Holm); a metric that differs by less than {} %, one percentage point, 1 °C or 100 KiB/s "
        "is the same",
        tested, number_text(100 * comparison.same_metric_within));
    differs.result = smallest_p_text(comparison);
  }
  all.push_back(std::move(differs));
  return all;
}

}  // namespace trainscope
