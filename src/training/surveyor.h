// The fold behind a survey: takes the reports of a run one by one.
//
// Guarantees: a copy is independent of the original. So a run that is being recorded is surveyed as
// it is now by finishing a copy, and the original takes what is reported afterwards. Memory grows
// with what is rare (epochs, phases, names), up to the limits of its parts.
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/manifest.h"
#include "model/training.h"
#include "training/epoch_list.h"
#include "training/not_finite.h"
#include "training/numbers.h"
#include "training/phase_list.h"
#include "training/phase_track.h"
#include "training/step_groups.h"
#include "training/step_track.h"
#include "training/survey.h"
#include "training/tracks.h"

namespace trainscope {

// Orders tracks by a key that owns its text or by one that points to it.
struct ByTrack {
  using is_transparent = void;
  static TrackKey key_of(const std::pair<std::string, std::string>& key) {
    return {key.first, key.second};
  }
  static TrackKey key_of(const TrackKey& key) { return key; }
  bool operator()(const auto& a, const auto& b) const { return key_of(a) < key_of(b); }
};

class Surveyor {
 public:
  // `sender`: whose phases are the training's.
  Surveyor(const std::string& sender, bool is_output_refused);

  // A report that counts (CountedFilter), in order of time.
  void take(const StoredReport& stored);
  // The sender that does the steps, as far as is known now.
  std::string sender() const { return std::string(choose_sender(tallies())); }
  // Nothing more was reported. Fills `training` but for the times of steps. Takes no more reports.
  Survey finish(double duration_s, std::span<const Event> events, Training& training);

 private:
  // What a track shows before its steps have their times.
  struct TrackSurvey {
    StepTrack track;
    StepGroups groups;
    int64_t reports = 0;

    void take(const std::optional<Step>& step) {
      if (step) groups.add(*step);
    }
  };

  void take_step(const StoredReport& stored);
  void take_numbers(const StoredReport& stored);
  void take_phase(const TrainingPhase& phase);
  void take_other_sender(const TrainingPhase& phase);
  void take_input(const TrainingPhase& phase);
  void finish_phases();
  std::vector<TrackTally> tallies() const;
  // Returns the groups of the steps of the chosen track, or null without one.
  const StepGroups* choose_source();
  const StepGroups* take_chosen(const TrackTally& chosen);
  bool has_mixed_steps() const;
  void note_left_out();
  void explain_count(std::span<const Event> events, int64_t epochs_reported);
  void explain_times(std::span<const Event> events, const StepGroups& groups);

  Survey survey_;
  Training training_;
  PhaseTrack phases_;
  std::map<std::pair<std::string, std::string>, TrackSurvey, ByTrack> tracks_;
  std::map<std::string, double> communication_s_;  // of other senders
  EpochList epochs_;
  PhaseList listed_phases_;
  std::vector<TrainingNumber> found_numbers_, not_finite_;  // of the last report
  NotFiniteNumbers not_finite_numbers_;
  NumberFold numbers_;
  int64_t steps_of_other_sets_ = 0, uncounted_ = 0;
  int64_t numbers_left_out_ = 0;  // of the chosen track
};

// All reports, taken by a Surveyor of the sender that does the steps.
Result<Surveyor> survey_reports(const Reports& reports, std::span<const Event> events);

// Why the recorder refused printed lines (kOutputIsShared) or why their times are coarse
// (kOutputIsPolled); "" if it did not say so.
std::string reason_in(std::span<const Event> events, std::string_view kind);

}  // namespace trainscope
