// What all steps with their times show together: durations, warm-up, series, milestones.
#pragma once

#include <vector>

#include "base/distribution.h"
#include "model/training.h"
#include "training/survey.h"
#include "training/training_series.h"

namespace trainscope {

// Durations and throughput of steps that are not warm-up.
class StatisticsFold {
 public:
  void add(const Step& step);
  const Distribution& durations() const { return durations_; }
  StepStatistics finish(bool are_times_known) const;

 private:
  Distribution durations_, rests_;
  Distribution means_;  // averages of groups too
  double time_s_ = 0, steps_ = 0, items_ = 0, counted_s_ = 0, throughputs_ = 0, reported_ = 0;
};

// Guarantees: a copy is independent of the original.
class StepSummary {
 public:
  // In order of time.
  void add(const Step& step);
  // Fills the statistics of `training` and its series of steps, and states in `survey` which steps
  // are warm-up. Takes no more steps.
  void finish(Survey& survey, Training& training);

 private:
  std::vector<Step> first_;  // whether they are warm-up is known at the end
  StatisticsFold fold_;
  StepSeries series_;
};

// Reads all steps once: what StepSummary gives, and the steps of the milestones.
Status summarize_steps(Reader<Step>& steps, Survey& survey, Training& training);

}  // namespace trainscope
