// Tracks: sequences of steps that are counted separately, and which of them is the training.
//
// The pipe has a track per sender, event files one per number (each may have its own axis: one
// counts batches, another epochs), printed lines have one.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/training.h"
#include "training/report.h"
#include "training/step_counter.h"

namespace trainscope {

inline constexpr std::string_view kPipe = "pipe", kEventFiles = "tensorboard", kOutput = "output";

// Points into the report.
struct TrackKey {
  std::string_view source, name;
  auto operator<=>(const TrackKey&) const = default;  // NOLINT: clang-tidy 14 sees a literal 0
};
// The track of a step; nothing for other reports and for steps that are not the training's: those
// of another set (set=validation), and printed ones of a named sender.
std::optional<TrackKey> track_of(std::string_view source, const Report& report);

struct TrackTally {
  TrackKey key;
  int64_t reports = 0;
  const StepCounter* counter = nullptr;

  int64_t observed() const { return counter->observed(); }
};

// The sender that does the steps: the one without a name, or, where all have one (one of several
// ranks, a training in a forked process), the one with the most reports.
std::string_view choose_sender(std::vector<TrackTally> tallies);

// Of the pipe, those that reported steps but for the chosen one. While a job may still report steps
// itself, `run --instrument` sends its own under a second name, which is not another sender.
std::vector<StepSender> other_step_senders(const std::vector<TrackTally>& tallies,
                                           std::string_view chosen);

// "2 processes reported steps; those of rank 0 count (rank1 reported 60)"
std::string senders_note(std::string_view chosen, const std::vector<StepSender>& others);

// The track of each source, in order of the sources: that of the sender that does the steps, and of
// the numbers in event files the one that was reported most often and can be believed.
std::vector<TrackTally> choose_tracks(std::vector<TrackTally> tallies);

// The pipe was meant for us; of the others the one with more steps, and of two with as many the
// event files, whose times are the job's own. Nothing without a step whose numbers can be believed
// (StepCounter::is_mixed).
std::optional<TrackTally> choose_training(const std::vector<TrackTally>& tracks);

}  // namespace trainscope
