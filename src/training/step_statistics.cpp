#include "training/step_statistics.h"

#include <algorithm>

#include "base/distribution.h"
#include "training/training_series.h"

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

class StatisticsFold {
 public:
  void add(const Step& step) {
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
    if (step.items) {
      items_ += *step.items * covers;
      counted_s_ += *mean_s * covers;
    }
  }

  const Distribution& durations() const { return durations_; }

  StepStatistics finish(bool are_times_known) const {
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
    if (are_times_known) {
      statistics.p50_s = means_.nearest_rank(0.5);
      statistics.p99_s = means_.nearest_rank(0.99);
    }
    return statistics;
  }

 private:
  Distribution durations_, rests_;
  Distribution means_;  // averages of groups too
  double time_s_ = 0, steps_ = 0, items_ = 0, counted_s_ = 0, throughputs_ = 0, reported_ = 0;
};

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

}  // namespace

Status summarize_steps(Reader<Step>& steps, Survey& survey, Training& training) {
  std::vector<Step> first;  // whether they are warm-up is known at the end
  StatisticsFold fold;
  StepSeries series;
  MilestoneSteps milestones(training.results);
  Step step;
  double last_s = 0, since_first = 0;
  for (;;) {
    TS_TRY(const bool has_more, steps.next(step));
    if (!has_more) break;
    if (!first.empty()) since_first += static_cast<double>(step.covers);
    last_s = step.time_s;
    series.add(step);
    milestones.add(step);
    if (first.size() < kMaxWarmup) {
      first.push_back(step);
    } else {
      fold.add(step);
    }
  }
  milestones.finish();
  if (!first.empty() && last_s > first.front().time_s) {
    training.steps_per_s = since_first / (last_s - first.front().time_s);
  }
  Distribution durations = fold.durations();
  for (const Step& each : first) {
    if (each.duration_s) durations.add(*each.duration_s);
  }
  const bool may_warm_up = survey.are_times_known && training.observed >= kLeastSteps;
  if (may_warm_up && durations.count() > 0) {
    training.warmup_steps = mark_warmup(first, durations.median(), survey);
  }
  for (size_t i = 0; i < first.size(); ++i) {
    if (!survey.is_warmup[i]) fold.add(first[i]);
  }
  training.statistics = fold.finish(survey.are_times_known);
  std::vector<TrainingSeries> all = series.list(training.source);
  for (TrainingSeries& each : training.series) all.push_back(std::move(each));
  training.series = std::move(all);
  return {};
}

}  // namespace trainscope
