#include "training/numbers.h"

#include <algorithm>
#include <cmath>

namespace trainscope {

namespace {

using ReportKind = Report::Kind;

constexpr double kMilestones[] = {0.5,  0.6,  0.7,  0.8,  0.85, 0.9,  0.91, 0.92,
                                  0.93, 0.94, 0.95, 0.96, 0.97, 0.98, 0.99, 0.995};

// "val_loss" is the loss of the validation set, whatever set= the line has.
NamedNumber name_and_set(std::string_view name, std::string_view set) {
  NamedNumber number = without_set_prefix(name);
  if (number.set.empty()) number.set = set.empty() ? "train" : set;
  return number;
}

TrainingNumber make_number(const StoredReport& stored, std::string_view name,
                           std::optional<double> step, double value) {
  const NamedNumber named = name_and_set(name, stored.report.set);
  std::optional<int64_t> number;
  if (step && *step >= 0 && *step < 9e15) number = std::llround(*step);
  return {
      std::string(named.name), std::string(named.set), stored.source, stored.time_s, number, value,
      stored.report.who};
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

// Of two names for one metric the smaller rank is the one that is used.
int rank_of(std::string_view name) {
  if (name == "loss" || name == "accuracy") return 0;
  return name == "acc" ? 1 : 2;
}

}  // namespace

void append_numbers(const StoredReport& stored, std::vector<TrainingNumber>& finite,
                    std::vector<TrainingNumber>* not_finite) {
  const Report& report = stored.report;
  const auto append = [&](std::string_view name, std::optional<double> step, double value) {
    auto* const to = std::isfinite(value) ? &finite : not_finite;
    if (to != nullptr) to->push_back(make_number(stored, name, step, value));
  };
  if (report.kind == ReportKind::scalar) {
    append(report.name, report.find("step"), report.value);
    return;
  }
  if (report.kind != ReportKind::step && report.kind != ReportKind::epoch) return;
  std::optional<double> step;
  if (report.kind == ReportKind::step && report.number) step = static_cast<double>(*report.number);
  for (const auto& [name, value] : report.numbers) {
    if (!is_place_in_training(name)) append(name, step, value);
  }
}

// The numbers of the sender replace those of others.
bool NumberFold::counts(const Key& key, bool is_of_sender) {
  const auto group = groups_.find(key);
  if (group == groups_.end() || group->second.is_of_sender == is_of_sender) return true;
  if (!is_of_sender) return false;
  names_ -= group->second.candidates.size();
  groups_.erase(group);
  return true;
}

NumberFold::Candidate* NumberFold::find(const Key& key, bool is_of_sender,
                                        const std::string& name) {
  const auto found = groups_.find(key);
  if (found != groups_.end()) {
    for (Candidate& candidate : found->second.candidates) {
      if (candidate.name == name) return &candidate;
    }
  }
  if (names_ == kMaxNames) return nullptr;
  ++names_;
  Group& group = groups_[key];
  group.is_of_sender = is_of_sender;
  group.candidates.push_back({name, {}, {}});
  return &group.candidates.back();
}

void NumberFold::add(const TrainingNumber& number) {
  const auto metric = metric_of_number(number.name);
  if (!metric) return;
  const Key key(*metric, number.set, number.source);
  const bool is_of_sender =
      number.set == "train" && number.source == kPipe && number.who == sender_;
  if (!counts(key, is_of_sender)) return;
  Candidate* const candidate = find(key, is_of_sender, number.name);
  if (candidate == nullptr) {
    ++left_out_;
    return;
  }
  candidate->summary.add(number.time_s, number.value);
  if (*metric == TrainingMetric::loss) {
    candidate->results.loss = number.value;
  } else {
    take_accuracy(number, candidate->results);
  }
}

const NumberFold::Candidate& NumberFold::choose(const Group& group) {
  return *std::min_element(
      group.candidates.begin(), group.candidates.end(),
      [](const Candidate& a, const Candidate& b) { return rank_of(a.name) < rank_of(b.name); });
}

const NumberFold::Candidate* NumberFold::chosen(TrainingMetric metric, std::string_view set,
                                                std::string_view source) const {
  const auto found = groups_.find(Key(metric, set, source));
  return found == groups_.end() ? nullptr : &choose(found->second);
}

const NumberFold::Candidate* NumberFold::chosen_of_sources(TrainingMetric metric,
                                                           std::string_view set,
                                                           std::string_view first) const {
  for (const std::string_view source : {first, kPipe, kEventFiles, kOutput}) {
    if (const Candidate* const candidate = chosen(metric, set, source)) return candidate;
  }
  return nullptr;
}

std::string NumberFold::name_of(TrainingMetric metric, std::string_view set,
                                std::string_view source) const {
  const Candidate* const candidate = chosen(metric, set, source);
  return candidate == nullptr ? "" : candidate->name;
}

std::vector<SetResults> NumberFold::results(std::string_view source) const {
  std::vector<std::string> sets = {"train", "validation", "test"};
  for (const auto& [key, group] : groups_) {
    const std::string& set = std::get<1>(key);
    if (std::find(sets.begin(), sets.end(), set) == sets.end()) sets.push_back(set);
  }
  std::sort(sets.begin() + 3, sets.end());
  std::vector<SetResults> all;
  for (const std::string& set : sets) {
    const Candidate* const loss = chosen_of_sources(TrainingMetric::loss, set, source);
    const Candidate* const accuracy = chosen_of_sources(TrainingMetric::accuracy, set, source);
    if (loss == nullptr && accuracy == nullptr) continue;
    all.push_back(accuracy == nullptr ? SetResults() : accuracy->results);
    all.back().set = set;
    if (loss != nullptr) all.back().loss = loss->results.loss;
  }
  return all;
}

std::vector<TrainingSeries> NumberFold::series() const {
  std::vector<TrainingSeries> all;
  for (const auto& [key, group] : groups_) {
    const auto& [metric, set, source] = key;
    const MetricSpec& spec = spec_of(metric);
    const Candidate& candidate = choose(group);
    all.push_back({make_series(spec, {{"set", set}, {"source", source}}),
                   candidate.summary.finish(spec.kind), candidate.name,
                   group.is_of_sender ? std::optional(sender_) : std::nullopt});
  }
  return all;
}

}  // namespace trainscope
