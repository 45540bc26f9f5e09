#include "training/surveyor.h"

#include <fmt/format.h>

#include <algorithm>

#include "training/no_steps.h"

namespace trainscope {

namespace {

using ReportKind = Report::Kind;

constexpr size_t kMaxTracks = 10'000;
constexpr const char* kCountsItems =
    "the job prints items, not steps: each printed line counts as a step";

}  // namespace

Surveyor::Surveyor(const std::string& sender, bool is_output_refused)
    : phases_(sender), epochs_(sender), numbers_(sender) {
  survey_.sender = sender;
  survey_.is_output_refused = is_output_refused;
}

void Surveyor::take(const StoredReport& stored) {
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
        // Nothing was known of it before it had ended.
        if (report.kind == ReportKind::phase && phase->is_input()) {
          survey_.longest_input_s = std::max(survey_.longest_input_s, phase->to_s - phase->from_s);
        }
      }
      return;
    case ReportKind::batch:
      training_.batch = std::max(training_.batch.value_or(0), static_cast<double>(*report.number));
      return;
    case ReportKind::dropped:
      training_.dropped = std::min(training_.dropped + *report.number, kMaxCount);
      return;
    case ReportKind::mark:
      return;  // an event already
  }
}

void Surveyor::take_step(const StoredReport& stored) {
  (void)phases_.add(stored);
  if (stored.report.is_of_other_set()) ++steps_of_other_sets_;
  const auto key = track_of(stored.source, stored.report);
  if (!key) return;
  if (stored.report.who == survey_.sender) {
    survey_.phase_sums.end_step();
    const auto timed = stored.report.find("timed");
    if (timed) survey_.phase_sums.count_timed(*timed > 0);
  }
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

void Surveyor::take_numbers(const StoredReport& stored) {
  found_numbers_.clear();
  not_finite_.clear();
  append_numbers(stored, found_numbers_, &not_finite_);
  for (const TrainingNumber& number : found_numbers_) numbers_.add(number);
  for (const TrainingNumber& number : not_finite_) not_finite_numbers_.add(number);
}

void Surveyor::take_phase(const TrainingPhase& phase) {
  if (!phase.who.empty()) {
    take_other_sender(phase);
    return;
  }
  // What an evaluation or a checkpoint does is no part of the steps.
  if (!phase.is_step_phase() || !phases_.is_in_pause()) survey_.phase_sums.add(phase);
  training_.has_compute_phases = training_.has_compute_phases || phase.is_compute();
  if (phase.is_input()) take_input(phase);
  if (!phase.is_pause()) {
    auto& first_s = survey_.first_phase_from_s;
    first_s = std::min(first_s.value_or(phase.from_s), phase.from_s);
  }
  if (!phase.is_step_phase()) listed_phases_.add(phase);
}

void Surveyor::take_other_sender(const TrainingPhase& phase) {
  if (phase.name != "communication") return;
  if (communication_s_.size() == kMaxTracks && !communication_s_.contains(phase.who)) return;
  const double time_s = communication_s_[phase.who] += phase.to_s - phase.from_s;
  auto& most = training_.other_communication_s;
  most = std::max(most.value_or(0), time_s);
}

void Surveyor::take_input(const TrainingPhase& phase) {
  training_.has_input_phases = survey_.has_input_phases = true;
  if (phase.is_open) survey_.open_input_from_s = phase.from_s;
}

Survey Surveyor::finish(double duration_s, std::span<const Event> events, Training& training) {
  survey_.duration_s = duration_s;
  for (auto& [key, track] : tracks_) track.take(track.track.finish());
  for (const TrainingPhase& phase : phases_.finish(duration_s)) take_phase(phase);
  not_finite_numbers_.append_notes(training_.notes);
  finish_phases();
  const StepGroups* const groups = choose_source();
  const int64_t epochs_reported =
      epochs_.finish(training_.source, training_.epochs, training_.notes);
  training_.results = numbers_.results(training_.source);
  training_.series = numbers_.series();
  note_left_out();
  for (const Event& event : events) {
    if (event.kind == kProgressNote) training_.notes.push_back(event.text);
  }
  if (!training_.count) explain_count(events, epochs_reported);
  if (groups != nullptr) explain_times(events, *groups);
  survey_.are_times_known = training_.times_reason.empty();
  survey_.are_averages_known = survey_.are_times_known || groups->are_averages_known();
  training_.phase_sums = survey_.phase_sums.finish(0);
  training = std::move(training_);
  return std::move(survey_);
}

void Surveyor::finish_phases() {
  training_.phases = listed_phases_.finish(training_.notes);
  for (const TrainingPhase& phase : training_.phases) {
    if (phase.is_pause()) survey_.pauses.add(phase.from_s, phase.to_s);
  }
}

std::vector<TrackTally> Surveyor::tallies() const {
  std::vector<TrackTally> all;
  for (const auto& [key, track] : tracks_) {
    all.push_back({{key.first, key.second}, track.reports, &track.track.counter()});
  }
  return all;
}

const StepGroups* Surveyor::choose_source() {
  const std::vector<TrackTally> all = tallies();
  const std::vector<TrackTally> tracks = choose_tracks(all);
  const auto chosen = choose_training(tracks);
  const StepGroups* const groups = chosen ? take_chosen(*chosen) : nullptr;
  if (chosen && chosen->key.source == kPipe) {
    auto& others = training_.other_step_senders;
    others = other_step_senders(all, chosen->key.name);
    if (!others.empty()) training_.notes.push_back(senders_note(chosen->key.name, others));
  }
  for (const TrackTally& track : tracks) {
    const bool is_unused = track.key.source != training_.source && track.observed() > 0;
    if (is_unused) training_.unused_sources.emplace_back(track.key.source);
  }
  return groups;
}

const StepGroups* Surveyor::take_chosen(const TrackTally& chosen) {
  survey_.source = training_.source = chosen.key.source;
  survey_.track = chosen.key.name;
  survey_.first_covers = chosen.counter->first_covers();
  training_.observed = chosen.observed();
  training_.count = chosen.counter->count();
  survey_.names = {numbers_.name_of(TrainingMetric::loss, "train", survey_.source),
                   numbers_.name_of(TrainingMetric::accuracy, "train", survey_.source)};
  const StepGroups* groups = nullptr;
  for (const auto& [key, track] : tracks_) {
    const bool is_same_source = key.first == survey_.source;
    if (is_same_source && key.second == survey_.track) {
      groups = &track.groups;
      numbers_left_out_ = track.track.left_out();
      if (track.track.counts_items()) training_.notes.emplace_back(kCountsItems);
    }
    const bool has_values =
        key.second == survey_.names.loss || key.second == survey_.names.accuracy;
    const bool is_joined = is_same_source && key.first == kEventFiles && !key.second.empty() &&
                           key.second != survey_.track && has_values;
    if (is_joined) survey_.joined.push_back(key.second);
  }
  return groups;
}

bool Surveyor::has_mixed_steps() const {
  return std::any_of(tracks_.begin(), tracks_.end(),
                     [](const auto& track) { return track.second.track.counter().is_mixed(); });
}

void Surveyor::note_left_out() {
  const auto note = [&](int64_t count, const char* text) {
    if (count > 0) training_.notes.push_back(fmt::format("{} {}", count, text));
  };
  note(phases_.ignored(), "phases are unknown: too many were open at once");
  note(numbers_.left_out(), "losses and accuracies are not used: they have too many names");
  note(numbers_left_out_,
       "numbers are left out: a step was reported again with more than 1000 names");
  note(uncounted_, "steps are not counted: they have too many senders or names");
}

void Surveyor::explain_count(std::span<const Event> events, int64_t epochs_reported) {
  const std::string refused = reason_in(events, kOutputIsShared);
  if (!refused.empty()) {
    training_.are_steps_refused = true;
    training_.reason = "printed steps are not counted: " + refused +
                       "; redirect the output of each run to its own file";
  } else if (has_mixed_steps()) {
    training_.reason =
        "steps are not counted: their numbers go back again and again, as where several processes "
        "report the same steps; let one of them do it (or name them in the pipe: who=NAME), or "
        "print "
        "the length too (step 7/100)";
  } else if (epochs_reported > 0) {
    training_.reason = fmt::format("{} epochs were reported, but no steps", epochs_reported);
  } else if (steps_of_other_sets_ > 0) {
    training_.reason = fmt::format("{} steps of other sets were reported, but none of the training",
                                   steps_of_other_sets_);
  } else {
    training_.reason = why_no_steps(events);
  }
}

void Surveyor::explain_times(std::span<const Event> events, const StepGroups& groups) {
  const std::string polled = reason_in(events, kOutputIsPolled);
  if (training_.source == kOutput && !polled.empty() && !groups.are_durations_reported()) {
    training_.times_reason =
        "step times are unknown: the times of printed lines are coarse, because " + polled;
  } else {
    training_.times_reason = groups.reason(training_.source);
  }
}

std::string reason_in(std::span<const Event> events, std::string_view kind) {
  std::string reason;
  for (const Event& event : events) {
    if (event.kind == kind) reason = event.text;
  }
  return reason;
}

Result<Surveyor> survey_reports(const Reports& reports, std::span<const Event> events) {
  const bool is_output_refused = !reason_in(events, kOutputIsShared).empty();
  // Whose phases are the training's is known at the end: where every sender has a name, the reports
  // are read once more.
  for (std::string sender;;) {
    Surveyor surveyor(sender, is_output_refused);
    const auto reader = read_counted(reports, is_output_refused);
    for (StoredReport stored;;) {
      TS_TRY(const bool has_more, reader->next(stored));
      if (!has_more) break;
      surveyor.take(stored);
    }
    if (surveyor.sender() == sender) return surveyor;
    sender = surveyor.sender();
  }
}

}  // namespace trainscope
