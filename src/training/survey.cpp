#include "training/survey.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "training/epoch_list.h"
#include "training/no_steps.h"
#include "training/not_finite.h"
#include "training/numbers.h"
#include "training/phase_list.h"
#include "training/step_groups.h"
#include "training/step_track.h"
#include "training/tracks.h"

namespace trainscope {

namespace {

using ReportKind = Report::Kind;

constexpr size_t kMaxTracks = 10'000;
constexpr size_t kMaxRemembered = 100'000;  // reports of event files with the same time
constexpr const char* kCountsItems =
    "the job prints items, not steps: each printed line counts as a step";

class CountedReports : public Reader<StoredReport> {
 public:
  CountedReports(std::unique_ptr<Reader<StoredReport>> all, bool is_output_refused)
      : all_(std::move(all)), is_output_refused_(is_output_refused) {}

  Result<bool> next(StoredReport& stored) override {
    for (;;) {
      TS_TRY(const bool has_more, all_->next(stored));
      if (!has_more) return false;
      if (is_output_refused_ && stored.source == kOutput) continue;
      if (stored.source != kEventFiles || is_new(stored)) return true;
    }
  }

 private:
  // Event files are read from their beginning after a restart of the recorder. Reports are in order
  // of time, so one that was stored before is among those of the same time.
  bool is_new(const StoredReport& stored) {
    if (stored.time_s != time_s_) seen_.clear();
    time_s_ = stored.time_s;
    if (seen_.size() == kMaxRemembered) return true;
    return seen_.insert(format_report(stored.report)).second;
  }

  std::unique_ptr<Reader<StoredReport>> all_;
  bool is_output_refused_;
  double time_s_ = 0;
  std::set<std::string> seen_;  // reports of event files at time_s_
};

struct ByTrack {
  using is_transparent = void;
  static TrackKey key_of(const std::pair<std::string, std::string>& key) {
    return {key.first, key.second};
  }
  static TrackKey key_of(const TrackKey& key) { return key; }
  bool operator()(const auto& a, const auto& b) const { return key_of(a) < key_of(b); }
};

// What a track shows before its steps have their times.
struct TrackSurvey {
  StepTrack track;
  StepGroups groups;
  int64_t reports = 0;

  void take(const std::optional<Step>& step) {
    if (step) groups.add(*step);
  }
};

class Surveyor {
 public:
  Surveyor(const std::string& sender, bool is_output_refused, double duration_s, Training& training)
      : phases_(sender), training_(training), epochs_(sender), numbers_(sender) {
    survey_.sender = sender;
    survey_.is_output_refused = is_output_refused;
    survey_.duration_s = duration_s;
  }

  Status read(const Reports& reports) {
    const auto reader = read_counted(reports, survey_.is_output_refused);
    StoredReport stored;
    for (;;) {
      TS_TRY(const bool has_more, reader->next(stored));
      if (!has_more) break;
      take(stored);
    }
    for (auto& [key, track] : tracks_) track.take(track.track.finish());
    for (const TrainingPhase& phase : phases_.finish(survey_.duration_s)) take_phase(phase);
    return {};
  }

  std::string sender() const { return std::string(choose_sender(tallies())); }

  Survey finish() {
    not_finite_numbers_.append_notes(training_.notes);
    finish_phases();
    choose_source();
    epochs_reported_ = epochs_.finish(training_.source, training_.epochs, training_.notes);
    training_.results = numbers_.results(training_.source);
    training_.series = numbers_.series();
    note_left_out();
    return std::move(survey_);
  }

  const StepGroups* groups() const { return groups_; }
  int64_t epochs_reported() const { return epochs_reported_; }
  int64_t steps_of_other_sets() const { return steps_of_other_sets_; }

 private:
  void take(const StoredReport& stored) {
    const Report& report = stored.report;
    ++training_.reports;
    switch (report.kind) {
      case ReportKind::step:
        take_step(stored);
        take_numbers(stored);
        return;
      case ReportKind::epoch:
        epochs_.add(stored);
        take_numbers(stored);
        return;
      case ReportKind::scalar:
        take_numbers(stored);
        return;
      case ReportKind::begin:
      case ReportKind::end:
      case ReportKind::phase:
        if (const auto phase = phases_.add(stored)) {
          take_phase(*phase);
          if (report.kind == ReportKind::phase && phase->is_input()) take_ended_input(*phase);
        }
        return;
      case ReportKind::batch:
        training_.batch =
            std::max(training_.batch.value_or(0), static_cast<double>(*report.number));
        return;
      case ReportKind::dropped:
        training_.dropped = std::min(training_.dropped + *report.number, kMaxCount);
        return;
      case ReportKind::mark:
        return;  // an event already
    }
  }

  void take_step(const StoredReport& stored) {
    if (stored.report.is_of_other_set()) ++steps_of_other_sets_;
    const auto key = track_of(stored.source, stored.report);
    if (!key) return;
    auto found = tracks_.find(*key);
    if (found == tracks_.end()) {
      if (tracks_.size() == kMaxTracks) {
        ++uncounted_;
        return;
      }
      const std::pair name(std::string(key->source), std::string(key->name));
      found = tracks_.emplace(name, TrackSurvey()).first;
    }
    ++found->second.reports;
    found->second.take(found->second.track.add(stored.time_s, stored.report));
  }

  void take_numbers(const StoredReport& stored) {
    found_numbers_.clear();
    not_finite_.clear();
    append_numbers(stored, found_numbers_, &not_finite_);
    for (const TrainingNumber& number : found_numbers_) numbers_.add(number);
    for (const TrainingNumber& number : not_finite_) not_finite_numbers_.add(number);
  }

  void take_phase(const TrainingPhase& phase) {
    if (!phase.who.empty()) return;
    training_.has_compute_phases = training_.has_compute_phases || phase.is_compute();
    if (phase.is_input()) take_input(phase);
    if (!phase.is_pause()) {
      auto& first_s = survey_.first_phase_from_s;
      first_s = std::min(first_s.value_or(phase.from_s), phase.from_s);
    }
    if (!phase.is_step_phase()) listed_phases_.add(phase);
  }

  void take_input(const TrainingPhase& phase) {
    training_.has_input_phases = survey_.has_input_phases = true;
    if (phase.is_open) survey_.open_input_from_s = phase.from_s;
  }

  // Nothing was known of it before it had ended.
  void take_ended_input(const TrainingPhase& phase) {
    survey_.longest_input_s = std::max(survey_.longest_input_s, phase.to_s - phase.from_s);
  }

  void finish_phases() {
    training_.phases = listed_phases_.finish(training_.notes);
    for (const TrainingPhase& phase : training_.phases) {
      if (phase.is_pause()) survey_.pauses.add(phase.from_s, phase.to_s);
    }
  }

  std::vector<TrackTally> tallies() const {
    std::vector<TrackTally> all;
    for (const auto& [key, track] : tracks_) {
      all.push_back({{key.first, key.second}, track.reports, &track.track.counter()});
    }
    return all;
  }

  void choose_source() {
    const std::vector<TrackTally> tracks = choose_tracks(tallies());
    const auto chosen = choose_training(tracks);
    if (chosen) take_chosen(*chosen);
    for (const TrackTally& track : tracks) {
      const bool is_unused = track.key.source != training_.source && track.observed() > 0;
      if (is_unused) training_.unused_sources.emplace_back(track.key.source);
    }
  }

  void take_chosen(const TrackTally& chosen) {
    survey_.source = training_.source = chosen.key.source;
    survey_.track = chosen.key.name;
    survey_.first_covers = chosen.counter->first_covers();
    training_.observed = chosen.observed();
    training_.count = chosen.counter->count();
    survey_.names = {numbers_.name_of(TrainingMetric::loss, "train", survey_.source),
                     numbers_.name_of(TrainingMetric::accuracy, "train", survey_.source)};
    for (const auto& [key, track] : tracks_) {
      const bool is_same_source = key.first == survey_.source;
      if (is_same_source && key.second == survey_.track) {
        groups_ = &track.groups;
        if (track.track.counts_items()) training_.notes.emplace_back(kCountsItems);
      }
      const bool has_values =
          key.second == survey_.names.loss || key.second == survey_.names.accuracy;
      const bool is_joined = is_same_source && key.first == kEventFiles && !key.second.empty() &&
                             key.second != survey_.track && has_values;
      if (is_joined) survey_.joined.push_back(key.second);
    }
  }

  void note_left_out() {
    const auto note = [&](int64_t count, const char* text) {
      if (count > 0) training_.notes.push_back(fmt::format("{} {}", count, text));
    };
    note(phases_.ignored(), "phases are unknown: too many were open at once");
    note(numbers_.left_out(), "losses and accuracies are not used: they have too many names");
    note(uncounted_, "steps are not counted: they have too many senders or names");
  }

  Survey survey_;
  PhaseTrack phases_;
  Training& training_;
  std::map<std::pair<std::string, std::string>, TrackSurvey, ByTrack> tracks_;
  const StepGroups* groups_ = nullptr;  // of the chosen one
  EpochList epochs_;
  PhaseList listed_phases_;
  std::vector<TrainingNumber> found_numbers_, not_finite_;  // of the last report
  NotFiniteNumbers not_finite_numbers_;
  NumberFold numbers_;
  int64_t epochs_reported_ = 0, steps_of_other_sets_ = 0, uncounted_ = 0;
};

// Why the recorder refused printed lines, or why their times are coarse.
std::string reason_in(std::span<const Event> events, std::string_view kind) {
  std::string reason;
  for (const Event& event : events) {
    if (event.kind == kind) reason = event.text;
  }
  return reason;
}

void explain_count(const std::string& refused, std::span<const Event> events,
                   const Surveyor& surveyor, Training& training) {
  if (training.count) return;
  if (!refused.empty()) {
    training.are_steps_refused = true;
    training.reason = "printed steps are not counted: " + refused +
                      "; redirect the output of each run to its own file";
  } else if (surveyor.epochs_reported() > 0) {
    training.reason =
        fmt::format("{} epochs were reported, but no steps", surveyor.epochs_reported());
  } else if (surveyor.steps_of_other_sets() > 0) {
    training.reason = fmt::format("{} steps of other sets were reported, but none of the training",
                                  surveyor.steps_of_other_sets());
  } else {
    training.reason = why_no_steps(events);
  }
}

void explain_times(const std::string& polled, const StepGroups& groups, Training& training) {
  if (training.source == kOutput && !polled.empty() && !groups.are_durations_reported()) {
    training.times_reason =
        "step times are unknown: the times of printed lines are coarse, because " + polled;
  } else {
    training.times_reason = groups.reason(training.source);
  }
}

}  // namespace

std::unique_ptr<Reader<StoredReport>> read_counted(const Reports& reports, bool is_output_refused) {
  return std::make_unique<CountedReports>(reports.read(), is_output_refused);
}

Result<Survey> survey_training(const Reports& reports, double duration_s,
                               std::span<const Event> events, Training& training) {
  const std::string refused = reason_in(events, kOutputIsShared);
  std::optional<Surveyor> surveyor;
  // Whose phases are the training's is known at the end: where every sender has a name, the reports
  // are read once more.
  for (std::string sender;; sender = surveyor->sender()) {
    training = {};
    surveyor.emplace(sender, !refused.empty(), duration_s, training);
    TS_CHECK_OK(surveyor->read(reports));
    if (surveyor->sender() == sender) break;
  }
  Survey survey = surveyor->finish();
  explain_count(refused, events, *surveyor, training);
  if (survey.may_arrive_together()) {
    explain_times(reason_in(events, kOutputIsPolled), *surveyor->groups(), training);
  }
  survey.are_times_known = training.times_reason.empty();
  survey.are_averages_known = survey.are_times_known || surveyor->groups()->are_averages_known();
  return survey;
}

}  // namespace trainscope
