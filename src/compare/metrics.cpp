// All metrics that at least one side has, with p-values that are adjusted for their number.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "compare/sides.h"

namespace trainscope {

namespace {

struct BothSides {
  ObservedMetric metric;  // without blocks
  std::vector<Observed> a, b;
};

std::optional<double> finite(double value) {
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

constexpr std::string_view kStepTime = "train.step.duration";
constexpr std::string_view kCost = "train.cost_per_step";  // the step time in money
constexpr std::string_view kThroughput = "train.throughput";
constexpr std::string_view kCelsius = "Cel";

// What a difference must reach to matter, however large it is as a ratio; 0: any does.
double least_difference(std::string_view unit) {
  if (unit == "1" || unit == "s/s") return kSameShare;  // "s/s" is shown as per cent as well
  if (unit == kCelsius) return kSameCelsius;
  return unit == "By/s" ? kSameBytesPerS : 0;
}

// 40 °C are not twice as warm as 20 °C: of temperatures the difference counts, not the ratio.
void drop_ratio(TestedNumber& tested) {
  tested.number.ratio = tested.number.low = tested.number.high = std::nullopt;
  if (tested.effect) tested.effect->has_ratio = false;
}

Difference decide_metric(const Effect& effect, std::string_view unit, double same_within) {
  const double least = least_difference(unit);
  const bool is_small = effect.difference_low >= -least && effect.difference_high <= least;
  if (is_small && least > 0) return Difference::same;
  return decide(effect, unit == kCelsius ? 0 : same_within);
}

bool is_of_speed(std::string_view metric) {
  return metric == kStepTime || metric == kCost || metric == kThroughput;
}

// Steps of different sources are steps.
std::string key_of(const ObservedMetric& metric) {
  Labels labels = metric.labels;
  if (is_of_training(metric.name)) {
    std::erase_if(labels, [](const auto& label) { return label.first == "source"; });
  }
  return metric.name + "{" + labels_text(labels) + "}";
}

using Collected = std::map<std::string, BothSides>;

void collect_metric(const ObservedMetric& metric, bool is_b, Collected& all) {
  BothSides& both = all[key_of(metric)];
  if (both.metric.name.empty()) {
    both.metric = {metric.name, metric.labels, metric.unit, {}};
  } else if (both.metric.labels != metric.labels) {
    both.metric.labels.clear();
  }
  (is_b ? both.b : both.a).push_back(metric.blocks);
}

void collect_run(const ObservedRun& run, bool is_b, Collected& all) {
  for (const ObservedMetric& metric : run.metrics) collect_metric(metric, is_b, all);
  if (run.energy) collect_metric(*run.energy, is_b, all);
  if (run.cost) collect_metric(*run.cost, is_b, all);
  if (!run.steps) return;
  collect_metric(run.steps->duration, is_b, all);
  for (const ObservedMetric& metric : run.steps->others) collect_metric(metric, is_b, all);
}

// The highest accuracy on a set that all runs reached, and when each did: one value per run.
void collect_time_to_accuracy(const Sides& sides, Collected& all) {
  std::map<std::pair<std::string, double>, std::pair<std::vector<double>, std::vector<double>>>
      reached;
  const auto collect = [&](const std::vector<ObservedRun>& runs, bool is_b) {
    for (const ObservedRun& run : runs) {
      for (const SetResults& set : run.results) {
        for (const SetResults::Milestone& milestone : set.milestones) {
          auto& times = reached[{set.set, milestone.accuracy}];
          (is_b ? times.second : times.first).push_back(milestone.time_s);
        }
      }
    }
  };
  collect(sides.a, false);
  collect(sides.b, true);
  std::map<std::string, double> best;
  for (const auto& [key, times] : reached) {
    if (times.first.size() == sides.a.size() && times.second.size() == sides.b.size()) {
      best[key.first] = std::max(best[key.first], key.second);
    }
  }
  for (const auto& [set, accuracy] : best) {
    const auto& times = reached[{set, accuracy}];
    const Labels labels = {{"accuracy", fmt::format("{:g}", accuracy)}, {"set", set}};
    BothSides& both = all["train.time_to_accuracy{" + set + "}"];
    both.metric = {"train.time_to_accuracy", labels, "s", {}};
    for (const double time_s : times.first) both.a.push_back({{time_s}, {}});
    for (const double time_s : times.second) both.b.push_back({{time_s}, {}});
  }
}

// Why a metric cannot be compared; "": it can. Without some of its runs a side would be another
// one.
std::string why_incomplete(const BothSides& both, const Sides& sides) {
  if (both.a.size() == sides.a.size() && both.b.size() == sides.b.size()) return "";
  const bool lacks_a = both.a.size() < sides.a.size();
  const bool is_in_some = !(lacks_a ? both.a : both.b).empty();
  return fmt::format("not recorded in {}{}", is_in_some ? "all runs of " : "", lacks_a ? "A" : "B");
}

std::optional<double> mean_of_runs(const std::vector<Observed>& runs) {
  double sum = 0;
  for (const Observed& run : runs) {
    const auto mean = ObservedMetric{"", {}, "", run}.mean();
    if (!mean) return std::nullopt;
    sum += *mean;
  }
  return runs.empty() ? std::nullopt : std::optional(sum / static_cast<double>(runs.size()));
}

// The metrics of one question, whose p-values are adjusted together.
struct Family {
  std::vector<size_t> places;  // in the list of metrics
  std::vector<Effect> effects;

  void add(size_t place, const Effect& effect) {
    places.push_back(place);
    effects.push_back(effect);
  }

  void decide_all(const SameWithin& same, double Effect::*p,
                  std::vector<ComparedMetric>& metrics) const {
    std::vector<double> tested;
    for (const Effect& effect : effects) tested.push_back(effect.*p);
    const std::vector<double> adjusted = adjust(tested);
    for (size_t i = 0; i < effects.size(); ++i) {
      Effect effect = effects[i];
      ComparedMetric& metric = metrics[places[i]];
      metric.number.p_adjusted = effect.p = adjusted[i];
      const double same_within = is_of_speed(metric.name) ? same.speed : same.metric;
      metric.number.verdict = verdict_name(decide_metric(effect, metric.unit, same_within));
    }
  }
};

}  // namespace

TestedNumber compare_number(const std::vector<Observed>& a, const std::vector<Observed>& b,
                            double same_within) {
  TestedNumber tested;
  ComparedNumber& number = tested.number;
  number.a = mean_of_runs(a);
  number.b = mean_of_runs(b);
  if (!number.a || !number.b) return tested;
  number.difference = *number.b - *number.a;
  if (*number.a > 0 && *number.b >= 0) number.ratio = *number.b / *number.a;
  Question question;
  if (same_within > 0) question.smallest_effect = same_within;
  tested.effect = compare_means(a, b, question);
  if (!tested.effect) {
    number.reason = fmt::format(
        "too few values: each side needs at least {}, or repeats on both sides", kFewestBlocks);
    return tested;
  }
  const Effect& effect = *tested.effect;
  number.difference = finite(effect.difference);
  number.difference_low = finite(effect.difference_low);
  number.difference_high = finite(effect.difference_high);
  if (effect.has_ratio) {
    number.ratio = finite(effect.ratio);
    number.low = finite(effect.ratio_low);
    number.high = finite(effect.ratio_high);
  }
  number.p = finite(effect.p);
  number.values_needed = effect.values_needed;
  number.repeats_needed = effect.repeats_needed;
  return tested;
}

bool is_of_training(std::string_view metric) { return metric.starts_with("train."); }

std::string_view verdict_name(Difference difference) {
  switch (difference) {
    case Difference::higher:
      return "higher";
    case Difference::lower:
      return "lower";
    case Difference::same:
      return "same";
    default:
      return "cannot_tell";
  }
}

std::vector<ComparedMetric> compare_metrics(const Sides& sides, const SameWithin& same) {
  Collected all;
  for (const ObservedRun& run : sides.a) collect_run(run, false, all);
  for (const ObservedRun& run : sides.b) collect_run(run, true, all);
  collect_time_to_accuracy(sides, all);
  std::vector<ComparedMetric> metrics;
  Family training, hardware;
  for (const auto& [key, both] : all) {
    const bool is_speed = both.metric.name == kStepTime || both.metric.name == kCost;
    TestedNumber result =
        compare_number(both.a, both.b, is_of_speed(both.metric.name) ? same.speed : same.metric);
    if (both.metric.unit == kCelsius) drop_ratio(result);
    if (std::string reason = why_incomplete(both, sides); !reason.empty()) {
      ComparedNumber untested;
      untested.a = result.number.a;
      untested.b = result.number.b;
      untested.reason = std::move(reason);
      result.number = std::move(untested);
    } else if (is_speed && result.number.p) {
      // Whether training is faster is a question of its own.
      result.number.p_adjusted = result.number.p;
      result.number.verdict = verdict_name(decide(*result.effect, same.speed));
    } else if (result.number.p) {
      (is_of_training(both.metric.name) ? training : hardware).add(metrics.size(), *result.effect);
    }
    metrics.push_back({both.metric.name, both.metric.labels, both.metric.unit, false, "",
                       std::move(result.number)});
  }
  training.decide_all(same, &Effect::p, metrics);
  hardware.decide_all(same, &Effect::p_of_many, metrics);
  return metrics;
}

}  // namespace trainscope
