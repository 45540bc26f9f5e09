// The series train.*: steps and their numbers as the rest of a run is read, by name and time.
#include <map>

#include "store/training.h"

namespace trainscope {

namespace {

struct StepMetric {
  const char* name;
  const char* unit;
  Kind kind;
  bool derived;
  std::optional<double> (*value)(const Step&);
};

constexpr StepMetric kStepMetrics[] = {
    {"train.step", "{step}", Kind::counter, false,
     [](const Step& s) { return std::optional(static_cast<double>(s.step)); }},
    {"train.step.duration", "s", Kind::gauge, true, [](const Step& s) { return s.duration_s; }},
    {"train.input_wait", "s", Kind::gauge, false, [](const Step& s) { return s.input_wait_s; }},
    {"train.throughput", "{item}/s", Kind::gauge, false,
     [](const Step& s) { return s.throughput; }},
};

void add_point(Points& points, double time_s, double value) {
  points.time_s.push_back(time_s);
  points.value.push_back(value);
  points.present.push_back(1);
}

Series described(const char* metric, const char* unit, Kind kind, Labels labels) {
  Series series;
  series.metric = metric;
  series.unit = unit;
  series.kind = kind;
  series.labels = std::move(labels);
  return series;
}

// Which metric a number of the job is, or none: others are found in the run by their own names.
const char* metric_of(const std::string& name) {
  if (name == "loss" || name == "cross_entropy") return "train.loss";
  if (name == "accuracy" || name == "acc" || name.ends_with("_accuracy")) return "train.accuracy";
  return nullptr;
}

}  // namespace

std::vector<TrainingSeries> list_training_series(const Training& training) {
  std::vector<TrainingSeries> all;
  for (const StepMetric& metric : kStepMetrics) {
    TrainingSeries one{
        described(metric.name, metric.unit, metric.kind, {{"source", training.source}}), {}};
    one.series.derived = metric.derived;
    for (const Step& step : training.steps) {
      if (const auto value = metric.value(step)) add_point(one.points, step.time_s, *value);
    }
    if (!one.points.time_s.empty()) all.push_back(std::move(one));
  }
  std::map<std::tuple<std::string, std::string, std::string>, Points> numbers;
  for (const TrainingNumber& number : training.numbers) {
    const char* metric = metric_of(number.name);
    if (metric == nullptr) continue;
    add_point(numbers[{metric, number.set, number.source}], number.time_s, number.value);
  }
  for (auto& [key, points] : numbers) {
    const auto& [metric, set, source] = key;
    all.push_back({described(metric.c_str(), "1", Kind::gauge, {{"set", set}, {"source", source}}),
                   std::move(points)});
  }
  return all;
}

}  // namespace trainscope
