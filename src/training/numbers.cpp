#include "training/numbers.h"

#include <cmath>

namespace trainscope {

namespace {

using ReportKind = Report::Kind;

constexpr double kMilestones[] = {0.5,  0.6,  0.7,  0.8,  0.85, 0.9,  0.91, 0.92,
                                  0.93, 0.94, 0.95, 0.96, 0.97, 0.98, 0.99, 0.995};

// "val_loss" is the loss of the validation set, whatever else the line says.
NamedNumber name_and_set(const std::string& name, const std::string& set) {
  NamedNumber number = without_set_prefix(name);
  if (number.set.empty()) number.set = set.empty() ? "train" : set;
  return number;
}

void append_number(const StoredReport& stored, const std::string& name, std::optional<double> step,
                   double value, std::vector<TrainingNumber>& numbers) {
  NamedNumber named = name_and_set(name, stored.report.set);
  std::optional<int64_t> number;
  if (step && *step >= 0 && *step < 9e15) number = std::llround(*step);
  numbers.push_back(
      {std::move(named.name), std::move(named.set), stored.source, stored.time_s, number, value});
}

void take_accuracy(const TrainingNumber& number, SetResults& results) {
  results.accuracy = number.value;
  if (number.value > results.best_accuracy.value_or(-1)) {
    results.best_accuracy = number.value;
    results.best_time_s = number.time_s;
  }
  for (const double milestone : kMilestones) {
    const bool reached =
        !results.milestones.empty() && results.milestones.back().accuracy >= milestone;
    if (reached || number.value < milestone || number.value > 1)
      continue;  // a percentage is not a ratio
    results.milestones.push_back({milestone, number.time_s, std::nullopt});
  }
}

}  // namespace

std::string append_numbers(const StoredReport& stored, std::vector<TrainingNumber>& numbers) {
  const Report& report = stored.report;
  if (report.kind == ReportKind::scalar) {
    if (std::isfinite(report.value)) {
      append_number(stored, report.name, report.find("step"), report.value, numbers);
    }
    return "";
  }
  if (report.kind != ReportKind::step && report.kind != ReportKind::epoch) return "";
  std::string not_finite;
  std::optional<double> step;
  if (report.kind == ReportKind::step && report.number) step = static_cast<double>(*report.number);
  for (const auto& [name, value] : report.numbers) {
    if (is_place_in_training(name)) continue;
    if (std::isfinite(value)) {
      append_number(stored, name, step, value, numbers);
    } else if (not_finite.empty()) {
      not_finite = name;
    }
  }
  return not_finite;
}

void NumberFold::take(BySet& all, const TrainingNumber& number) {
  SetResults& results = all[number.set];
  if (number.name == "loss") results.loss = number.value;
  if (is_accuracy(number.name)) take_accuracy(number, results);
}

void NumberFold::add(const TrainingNumber& number) {
  BySet& own = by_source_[number.source];
  if (number.name == "loss" || is_accuracy(number.name)) {
    take(all_, number);
    take(own, number);
  }
  if (const MetricSpec* spec = metric_of_number(number.name)) {
    series_[{spec, number.set, number.source}].add(number.time_s, number.value);
  }
}

std::vector<SetResults> NumberFold::results(const std::string& source) const {
  const auto own = by_source_.find(source);
  const BySet& sets = own == by_source_.end() ? all_ : own->second;
  std::vector<SetResults> all;
  for (const char* set : {"train", "validation", "test"}) {
    const auto found = sets.find(set);
    if (found == sets.end() || (!found->second.loss && !found->second.accuracy)) continue;
    all.push_back(found->second);
    all.back().set = set;
  }
  return all;
}

std::vector<TrainingSeries> NumberFold::series() const {
  std::vector<TrainingSeries> all;
  for (const auto& [key, summary] : series_) {
    const auto& [spec, set, source] = key;
    const Labels labels = {{"set", set}, {"source", source}};
    all.push_back({make_series(*spec, labels), summary.finish(spec->kind)});
  }
  return all;
}

}  // namespace trainscope
