// Steps with their times, from reports that are taken one by one.
//
// The time between two reports is that of the steps between them, less the pauses in it. A step is
// given once every wait for data that began before it is known: one with a begin and an end when it
// has ended, one that is reported afterwards (`phase input SECONDS`) after the longest of these.
// Guarantees: a copy is independent of the original, but for the survey. Limits: at most 100,000
// steps are held back for waits; of more within one wait, the first lack it. Of more than 250,000
// steps that arrive together, the first have all the time: the mean is right. The same applies to
// steps that have more than a million numbers together.
#pragma once

#include <deque>
#include <memory>
#include <optional>

#include "model/training.h"
#include "training/phase_track.h"
#include "training/step_track.h"
#include "training/survey.h"

namespace trainscope {

// Waits for data, by begin.
class Waits {
 public:
  void add(const TrainingPhase& phase, bool is_counted);
  // How much of this time they fill; only what is counted, overlaps once.
  double within(double from_s, double to_s) const;
  // Of those that begin in this time.
  void set_longest(double from_s, Step& step) const;
  // Nobody asks for a time before this one any more.
  void forget_before(double time_s);

 private:
  struct Wait {
    double from_s = 0, to_s = 0;
    bool is_counted = true;
    double length_s() const { return to_s - from_s; }
  };
  std::deque<Wait> waits_;
};

class TimedSteps {
 public:
  // The survey may change as more is reported, in what does not concern the steps that were given.
  TimedSteps(std::shared_ptr<const Survey> survey, StepNumbers numbers);

  // A report that counts, in order of time.
  void take(const StoredReport& stored);
  // A wait for data that the run ended within; known before the steps that it concerns.
  void take_open_wait(double from_s, double to_s);
  // Nothing more was reported: all steps can be given.
  void finish();
  // False: the next one needs more reports or, after finish(), there is none.
  bool next(Step& step);

  // When the last step that was given had ended.
  double last_s() const { return last_s_; }

 private:
  void add_wait(const TrainingPhase& phase);
  void add_communication(const TrainingPhase& phase);
  void append(std::optional<Step> step);
  bool is_front_complete() const;
  bool may_lack_wait(double time_s) const;
  void settle_front();
  void divide_among(size_t size, double from_s, double to_s, bool is_own);
  void complete(Step& step, double before_s);
  std::optional<double> first_step_began() const;

  std::shared_ptr<const Survey> survey_;
  StepTrack track_;
  PhaseTrack phases_;
  Waits waits_, communication_;
  bool has_communication_ = false;
  std::optional<double> batch_;  // as of the report that is being taken
  std::deque<Step> pending_;     // steps without their times; the first ones have them
  std::deque<size_t> groups_;    // how many of these came together, for those without times
  size_t settled_ = 0;           // how many of the first have their times
  size_t held_numbers_ = 0;      // of all these
  size_t count_ = 0, given_ = 0;
  double now_s_ = 0, last_s_ = 0;
  bool is_over_ = false;
  bool has_begin_ = false;  // when the last group began is known
};

}  // namespace trainscope
