// What all steps with their times show together: durations, warm-up, series, milestones.
#pragma once

#include <optional>
#include <vector>

#include "base/distribution.h"
#include "model/training.h"
#include "training/survey.h"
#include "training/timeline_fold.h"
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
  double timed_ = 0, untimed_ = 0;  // steps that report it
};

// Guarantees: a copy is independent of the original.
class StepSummary {
 public:
  // In order of time.
  void add(const Step& step);
  // Fills the statistics of `training`, what is known of its time, and its series of steps, and
  // states in `survey` which steps are warm-up. Takes no more steps.
  void finish(Survey& survey, Training& training);

 private:
  void add_span(const Step& step);
  void add_device_wait(const Step& step);

  std::vector<Step> first_;  // whether they are warm-up is known at the end
  StatisticsFold fold_;
  StepSeries series_;
  DeviceWaits device_waits_;
  TimelineFold timeline_;
  std::optional<double> begin_s_;             // of the first step
  double end_s_ = 0;                          // of the last one
  double first_end_s_ = 0, since_first_ = 0;  // steps after the first one
};

// Reads all steps once: what StepSummary gives, the steps of milestones and listed phases, and the
// overview.
Status summarize_steps(Reader<Step>& steps, Survey& survey, Training& training);

}  // namespace trainscope
