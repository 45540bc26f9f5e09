#include "training/training_series.h"

#include <limits>
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

// The place of a series of steps; nothing for a series of numbers.
std::optional<size_t> step_place(const Series& series) {
  for (size_t place = kStep; place <= kThroughput; ++place) {
    if (series.metric == kTrainingSpecs[place].name) return place;
  }
  return std::nullopt;
}

void add_point(Points& points, double time_s, double value) {
  points.time_s.push_back(time_s);
  points.value.push_back(value);
  points.present.push_back(1);
}

// Visits the items of a range; the first one after it stays in `item`.
template <typename Item, typename Visit>
Status visit_range(Reader<Item>& reader, Item& item, bool& has_item, const Range& range,
                   const Visit& visit) {
  for (;;) {
    if (!has_item) {
      TS_TRY(has_item, reader.next(item));
      if (!has_item) return {};
    }
    if (range.end_s && item.time_s >= *range.end_s) return {};
    has_item = false;
    if (!range.begin_s || item.time_s >= *range.begin_s) visit(item);
  }
}

}  // namespace

std::span<const MetricSpec> training_metrics() { return kTrainingSpecs; }

Series make_series(const MetricSpec& spec, Labels labels) {
  Series series;
  series.metric = spec.name;
  series.unit = spec.unit;
  series.kind = spec.kind;
  series.labels = std::move(labels);
  series.derived = spec.is_derived();
  return series;
}

const MetricSpec& spec_of(TrainingMetric metric) {
  return kTrainingSpecs[metric == TrainingMetric::loss ? kLoss : kAccuracy];
}

std::optional<TrainingMetric> metric_of_number(std::string_view name) {
  if (name == "loss" || name == "cross_entropy") return TrainingMetric::loss;
  const bool is_accuracy =
      name == "accuracy" || name == "acc" ||
      (name.ends_with("_accuracy") && name.find("top") == std::string_view::npos);
  return is_accuracy ? std::optional(TrainingMetric::accuracy) : std::nullopt;
}

void StepSeries::add(const Step& step) {
  for (size_t place = kStep; place <= kThroughput; ++place) {
    // A report of many steps counts as many in the mean of a step.
    const auto weight = static_cast<double>(step.covers);
    if (const auto value = value_of(step, place))
      summaries_[place].add(step.time_s, *value, weight);
  }
}

std::vector<TrainingSeries> StepSeries::list(const std::string& source) const {
  std::vector<TrainingSeries> all;
  for (size_t place = kStep; place <= kThroughput; ++place) {
    const MetricSpec& spec = kTrainingSpecs[place];
    const Summary summary = summaries_[place].finish(spec.kind);
    if (summary.samples > 0) all.push_back({make_series(spec, {{"source", source}}), summary, ""});
  }
  return all;
}

TrainingPoints::TrainingPoints(const Training& training, std::vector<size_t> series)
    : training_(training),
      series_(std::move(series)),
      position_s_(-std::numeric_limits<double>::infinity()) {}

Result<std::vector<Points>> TrainingPoints::read(const Range& range) {
  std::vector<Points> all(series_.size());
  if (training_.details == nullptr) return all;
  TS_CHECK_OK(read_steps(range, all));
  TS_CHECK_OK(read_numbers(range, all));
  position_s_ = range.end_s.value_or(std::numeric_limits<double>::infinity());
  return all;
}

Status TrainingPoints::read_steps(const Range& range, std::vector<Points>& all) {
  std::vector<std::pair<size_t, size_t>> wanted;  // the place of the metric and in `all`
  for (size_t i = 0; i < series_.size(); ++i) {
    const auto place = step_place(training_.series[series_[i]].series);
    if (place) wanted.emplace_back(*place, i);
  }
  if (wanted.empty()) return {};
  if (steps_ == nullptr) steps_ = training_.details->steps();
  return visit_range(*steps_, step_, has_step_, range, [&](const Step& step) {
    for (const auto& [place, i] : wanted) {
      if (const auto value = value_of(step, place)) add_point(all[i], step.time_s, *value);
    }
  });
}

Status TrainingPoints::read_numbers(const Range& range, std::vector<Points>& all) {
  std::vector<size_t> wanted;
  for (size_t i = 0; i < series_.size(); ++i) {
    if (!step_place(training_.series[series_[i]].series)) wanted.push_back(i);
  }
  if (wanted.empty()) return {};
  if (numbers_ == nullptr) numbers_ = training_.details->numbers();
  return visit_range(*numbers_, number_, has_number_, range, [&](const TrainingNumber& number) {
    for (const size_t i : wanted) {
      const bool is_its = training_.series[series_[i]].consists_of(number);
      if (is_its) add_point(all[i], number.time_s, number.value);
    }
  });
}

}  // namespace trainscope
