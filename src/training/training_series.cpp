// The series train.*: steps and their numbers as the rest of a run is read, by name and time.
#include <map>
#include <span>

#include "training/training.h"

namespace trainscope {

namespace {

constexpr MetricSpec kTrainingSpecs[] = {
    {"train.step", "{step}", Kind::counter, "source",
     "Number of the last finished step, counted through all epochs"},
    {"train.step.duration", "s", Kind::gauge, "source",
     "Duration of a step, without checkpoints and evaluations", in_info(101),
     "time between two reports / steps between them"},
    {"train.input_wait", "s", Kind::gauge, "source", "Time that a step waited for data",
     in_info(102)},
    {"train.throughput", "{item}/s", Kind::gauge, "source",
     "Items per second, if the job reports it or the batch size is known", in_info(103)},
    {"train.loss", "1", Kind::gauge, "set, source", "Loss reported by the job", in_info(104)},
    {"train.accuracy", "1", Kind::gauge, "set, source", "Accuracy reported by the job",
     in_info(105)},
};
enum Place { kStep, kDuration, kInputWait, kThroughput, kLoss, kAccuracy };

std::optional<double> value_of(const Step& step, size_t place) {
  switch (place) {
    case kStep:
      return static_cast<double>(step.step);
    case kDuration:
      return step.duration_s;
    case kInputWait:
      return step.input_wait_s;
    default:
      return step.throughput;
  }
}

void add_point(Points& points, double time_s, double value) {
  points.time_s.push_back(time_s);
  points.value.push_back(value);
  points.present.push_back(1);
}

Series described(const MetricSpec& spec, Labels labels) {
  Series series;
  series.metric = spec.name;
  series.unit = spec.unit;
  series.kind = spec.kind;
  series.labels = std::move(labels);
  return series;
}

// Which metric a number of the job is, or none: others are found in the run by their own names.
const MetricSpec* metric_of(const std::string& name) {
  if (name == "loss" || name == "cross_entropy") return &kTrainingSpecs[kLoss];
  return is_accuracy(name) ? &kTrainingSpecs[kAccuracy] : nullptr;
}

}  // namespace

std::span<const MetricSpec> training_metrics() { return kTrainingSpecs; }

std::vector<TrainingSeries> list_training_series(const Training& training) {
  std::vector<TrainingSeries> all;
  for (size_t place = kStep; place <= kThroughput; ++place) {
    TrainingSeries one{described(kTrainingSpecs[place], {{"source", training.source}}), {}};
    one.series.derived = kTrainingSpecs[place].is_derived();
    for (const Step& step : training.steps) {
      if (const auto value = value_of(step, place)) add_point(one.points, step.time_s, *value);
    }
    if (!one.points.time_s.empty()) all.push_back(std::move(one));
  }
  std::map<std::tuple<const MetricSpec*, std::string, std::string>, Points> numbers;
  for (const TrainingNumber& number : training.numbers) {
    const MetricSpec* spec = metric_of(number.name);
    if (spec == nullptr) continue;
    add_point(numbers[{spec, number.set, number.source}], number.time_s, number.value);
  }
  for (auto& [key, points] : numbers) {
    const auto& [spec, set, source] = key;
    all.push_back({described(*spec, {{"set", set}, {"source", source}}), std::move(points)});
  }
  return all;
}

}  // namespace trainscope
