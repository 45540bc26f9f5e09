#include "training/step_statistics.h"

#include <algorithm>
#include <optional>

#include "training/step_overview.h"

namespace trainscope {

namespace {

constexpr double kWarmupFactor = 2;
constexpr int64_t kLeastSteps = 4;  // fewer have no warm-up

// Which of the first steps took much longer than the rest and did not wait for data. Returns how
// many steps these are.
int64_t mark_warmup(const std::vector<Step>& first, double typical_s, Survey& survey) {
  int64_t count = 0;
  for (size_t i = 0; i < first.size(); ++i) {
    const Step& step = first[i];
    if (!step.duration_s && i == 0) continue;
    const double more = step.duration_s.value_or(0) - typical_s;
    const bool is_long = step.duration_s && *step.duration_s > kWarmupFactor * typical_s;
    if (!is_long || step.input_wait_s.value_or(0) > more / 2) break;
    survey.is_warmup[i] = true;
    count += step.covers;
  }
  return count;
}

// When the last of the first steps ended that are not part of the statistics: warm-up, and a step
// whose begin is unknown.
double warmup_end(const std::vector<Step>& first, const Survey& survey) {
  double end_s = 0;
  for (size_t i = 0; i < first.size(); ++i) {
    const bool is_timed = first[i].mean_s().has_value();
    if (survey.is_warmup[i] || (i == 0 && !is_timed)) end_s = first[i].time_s;
  }
  return end_s;
}

// Gives milestones the last step that had ended then.
class MilestoneSteps {
 public:
  explicit MilestoneSteps(std::vector<SetResults>& results) {
    for (SetResults& each : results) {
      for (SetResults::Milestone& milestone : each.milestones) all_.push_back(&milestone);
    }
    std::sort(all_.begin(), all_.end(),
              [](const auto* a, const auto* b) { return a->time_s < b->time_s; });
  }

  void add(const Step& step) {
    for (; at_ < all_.size() && all_[at_]->time_s < step.time_s; ++at_) all_[at_]->step = last_;
    last_ = step.step;
  }
  void finish() {
    for (; at_ < all_.size(); ++at_) all_[at_]->step = last_;
  }

 private:
  std::vector<SetResults::Milestone*> all_;
  size_t at_ = 0;
  std::optional<int64_t> last_;
};

// Gives pauses and other listed phases the first step that ended after them.
class PhaseSteps {
 public:
  explicit PhaseSteps(std::vector<TrainingPhase>& phases) {
    for (TrainingPhase& phase : phases) all_.push_back(&phase);
    std::stable_sort(all_.begin(), all_.end(),
                     [](const auto* a, const auto* b) { return a->to_s < b->to_s; });
  }

  void add(const Step& step) {
    for (; at_ < all_.size() && all_[at_]->to_s <= step.time_s; ++at_) {
      all_[at_]->next_step = step.step;
    }
    last_ = step.step;
  }
  void finish() {
    for (; at_ < all_.size(); ++at_) {
      all_[at_]->next_step = last_;
      all_[at_]->is_after_last_step = true;
    }
  }

 private:
  std::vector<TrainingPhase*> all_;
  size_t at_ = 0;
  int64_t last_ = 0;
};

}  // namespace

void StatisticsFold::add(const Step& step) {
  if (step.duration_s) {
    durations_.add(*step.duration_s);
    rests_.add(*step.duration_s - step.input_wait_s.value_or(0));
  }
  if (step.throughput) {
    throughputs_ += *step.throughput;
    reported_ += 1;
  }
  const auto mean_s = step.mean_s();
  if (!mean_s) return;
  const auto covers = static_cast<double>(step.covers);
  means_.add(*mean_s);
  time_s_ += *mean_s * covers;
  steps_ += covers;
  if (step.timed) (*step.timed > 0 ? timed_ : untimed_) += covers;
  if (step.items) {
    items_ += *step.items * covers;
    counted_s_ += *mean_s * covers;
  }
}

StepStatistics StatisticsFold::finish(bool are_times_known) const {
  StepStatistics statistics;
  statistics.typical_s = durations_.median();
  statistics.typical_rest_s = rests_.median();
  statistics.deviation_s = durations_.median_distance(statistics.typical_s);
  if (counted_s_ > 0) {
    statistics.throughput = items_ / counted_s_;
  } else if (reported_ > 0) {
    statistics.throughput = throughputs_ / reported_;
  }
  if (!(steps_ > 0)) return statistics;
  statistics.mean_s = time_s_ / steps_;
  statistics.steps = steps_;
  if (timed_ + untimed_ > 0) statistics.timed_share = timed_ / (timed_ + untimed_);
  if (are_times_known) {
    statistics.p50_s = means_.nearest_rank(0.5);
    statistics.p99_s = means_.nearest_rank(0.99);
  }
  return statistics;
}

void StepSummary::add(const Step& step) {
  series_.add(step);
  const bool is_first = first_.empty();
  add_span(step);
  if (!is_first) {
    add_device_wait(step);
    timeline_.add(step);
  }
  if (first_.size() < kMaxWarmup) {
    first_.push_back(step);
  } else {
    fold_.add(step);
  }
}

void StepSummary::add_span(const Step& step) {
  if (first_.empty()) {
    first_end_s_ = step.time_s;
  } else {
    since_first_ += static_cast<double>(step.covers);
  }
  const double length_s = step.mean_s().value_or(0) * static_cast<double>(step.covers);
  begin_s_ = std::min(begin_s_.value_or(step.time_s), step.time_s - length_s);
  end_s_ = std::max(end_s_, step.time_s);
}

void StepSummary::add_device_wait(const Step& step) {
  const auto mean_s = step.mean_s();
  if (!step.dry || !mean_s) return;
  const auto covers = static_cast<double>(step.covers);
  device_waits_.steps += 1;
  device_waits_.time_s += *mean_s * covers;
  if (!(*step.dry > 0)) return;
  device_waits_.dry_steps += 1;
  device_waits_.lost_s += step.input_wait_s.value_or(0) * covers;
}

void StepSummary::finish(Survey& survey, Training& training) {
  if (end_s_ > first_end_s_ && since_first_ > 0) {
    training.steps_per_s = since_first_ / (end_s_ - first_end_s_);
  }
  Distribution durations = fold_.durations();
  for (const Step& each : first_) {
    if (each.duration_s) durations.add(*each.duration_s);
  }
  const bool may_warm_up = survey.are_times_known && training.observed >= kLeastSteps;
  if (may_warm_up && durations.count() > 0) {
    training.warmup_steps = mark_warmup(first_, durations.median(), survey);
  }
  for (size_t i = 0; i < first_.size(); ++i) {
    if (!survey.is_warmup[i]) fold_.add(first_[i]);
  }
  training.statistics = fold_.finish(survey.are_times_known);
  training.phase_sums = survey.phase_sums.finish(warmup_end(first_, survey));
  training.begin_s = std::max(0.0, begin_s_.value_or(0));
  training.end_s = end_s_;
  training.device_waits = device_waits_;
  training.timeline = timeline_.timeline();
  std::vector<TrainingSeries> all = series_.list(training.source);
  for (TrainingSeries& each : training.series) all.push_back(std::move(each));
  training.series = std::move(all);
}

Status summarize_steps(Reader<Step>& steps, Survey& survey, Training& training) {
  StepSummary summary;
  StepOverviewFold overview;
  PhaseSteps phases(training.phases);
  MilestoneSteps milestones(training.results);
  for (Step step;;) {
    TS_TRY(const bool has_more, steps.next(step));
    if (!has_more) break;
    summary.add(step);
    overview.add(step);
    phases.add(step);
    milestones.add(step);
  }
  milestones.finish();
  phases.finish();
  summary.finish(survey, training);
  training.overview = overview.finish(survey);
  return {};
}

}  // namespace trainscope
