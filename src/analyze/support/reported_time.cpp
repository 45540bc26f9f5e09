#include "analyze/support/reported_time.h"

#include <algorithm>

#include "analyze/analyze.h"
#include "analyze/support/reported.h"
#include "analyze/support/saving_time.h"

namespace trainscope {

namespace step_time_analysis {
extern const Analysis entry;
}

namespace {

constexpr std::string_view kUnexplained = "unexplained";
// What begins later after the last step than this, and than a usual step takes, is not its part.
constexpr double kLeastGapS = 0.5;

double overlap_s(double from_s, double to_s, double other_from_s, double other_to_s) {
  return std::max(0.0, std::min(to_s, other_to_s) - std::max(from_s, other_from_s));
}

// Of something that took this long, what falls into some time.
double part_within(double seconds, double from_s, double to_s, double begin_s, double end_s) {
  if (!(to_s > from_s)) return from_s >= begin_s && from_s < end_s ? seconds : 0;
  return seconds * overlap_s(from_s, to_s, begin_s, end_s) / (to_s - from_s);
}

bool is_pause(const std::string& name) {
  TrainingPhase phase;
  phase.name = name;
  return phase.is_pause();
}

// Of listed phases of this name, what falls into some time.
double time_between(const Training& training, const std::string& name, double from_s, double to_s) {
  double sum_s = 0;
  for (const TrainingPhase& phase : training.phases) {
    if (phase.name == name) sum_s += overlap_s(phase.from_s, phase.to_s, from_s, to_s);
  }
  return sum_s;
}

}  // namespace

Result<std::shared_ptr<const ReportedTime>> ReportedTime::of(const RunView& run) {
  const auto reported = std::make_shared<ReportedTime>();
  const Training& training = run.training();
  reported->end_s_ = run.duration_s();
  if (!training.details) return std::shared_ptr<const ReportedTime>(reported);
  reported->knows_input_ = training.has_input_phases;
  reported->has_phases_ = training.has_input_phases || training.has_compute_phases;
  TS_CHECK_OK(training.observed > 0 ? reported->read_steps(run) : reported->read_phases_alone(run));
  return std::shared_ptr<const ReportedTime>(reported);
}

Status ReportedTime::read_steps(const RunView& run) {
  const Training& training = run.training();
  steps_ = training.count.value_or(training.observed);
  TS_TRY(step_time_, step_time_analysis::entry.analyze(run));
  find_begin(training);
  find_end(training);
  find_later_starts(training);
  timeline_ = training.timeline;
  dry_share_ = training.device_waits.dry_share();
  batch_ = training.batch;
  typical_rest_s_ = training.statistics.typical_rest_s;
  for (const BreakdownPart& part : step_time_.breakdown) {
    // A slow first batch is part of the warm-up too.
    if (part.part == "warmup") {
      warmup_s_ = std::max(0.0, part.time_s - (begin_s_ - first_step_s_));
    }
  }
  for (const auto& [name, time_s] : phase_times(run)) {
    shares_.try_emplace(name, std::min(1.0, time_s / (end_s_ - begin_s_)));
  }
  std::vector<Pause> long_steps = step_time_.pauses;
  std::erase_if(long_steps, [](const Pause& pause) { return pause.kind != kUnexplained; });
  TS_TRY(writes_, writes_in_pauses(run, long_steps, begin_s_, end_s_));
  TS_TRY(saving_, saving_in_pauses(run, long_steps, begin_s_, end_s_));
  if (!knows_input_) {
    TS_TRY(work_, work_in_pauses(run, long_steps, begin_s_, end_s_));
  }
  return {};
}

// Jobs whose steps are not known, such as a training loop of one's own in TensorFlow.
Status ReportedTime::read_phases_alone(const RunView& run) {
  const Training& training = run.training();
  if (training.phase_sums.empty()) return {};
  TS_TRY(const auto span, find_phase_span(training));
  if (!span || !(span->to_s > span->from_s)) return {};
  first_step_s_ = span->from_s;
  begin_s_ = std::clamp(span->first_input_to_s, span->from_s, span->to_s);
  end_s_ = span->to_s;
  if (!(end_s_ > begin_s_)) begin_s_ = span->from_s;
  const double first_s = begin_s_ > span->from_s ? span->first_input_s : 0;
  for (const auto& [name, time_s] : phase_times(run)) {
    double counted_s = name == "input" ? std::max(0.0, time_s - first_s) : time_s;
    if (is_pause(name)) counted_s = time_between(training, name, begin_s_, end_s_);
    shares_[name] = std::min(1.0, counted_s / (end_s_ - begin_s_));
  }
  return {};
}

// The first batch of an iterator contains the start of the workers that load it.
void ReportedTime::find_begin(const Training& training) {
  const double end_s = std::min(end_s_, training.end_s);
  first_step_s_ = std::min(end_s_, training.begin_s);
  begin_s_ = first_step_s_;
  if (end_s > begin_s_) end_s_ = end_s;
  if (!knows_input_ || !training.overview || training.overview->kept.empty()) return;
  const double waited_to_s = training.overview->kept.front().step.longest_wait_to_s;
  if (waited_to_s > begin_s_ && waited_to_s < end_s_) begin_s_ = waited_to_s;
}

// The last epoch ends with what the others end with.
void ReportedTime::find_end(const Training& training) {
  const double most_gap_s = std::max(kLeastGapS, training.statistics.typical_s);
  const auto interrupts = [&](const std::string& kind) {
    return std::any_of(step_time_.pauses.begin(), step_time_.pauses.end(), [&](const Pause& pause) {
      return pause.kind == kind && !pause.is_after_last_step && pause.to_s > begin_s_;
    });
  };
  for (const Pause& pause : step_time_.pauses) {
    if (!pause.is_after_last_step || !interrupts(pause.kind)) continue;
    if (pause.from_s > end_s_ + most_gap_s) return;
    if (!(pause.to_s > end_s_)) continue;
    end_s_ = pause.to_s;
    end_kind_ = pause.kind;
  }
}

// The first step after an epoch that waited much longer than usual.
void ReportedTime::find_later_starts(const Training& training) {
  if (!knows_input_ || !training.overview) return;
  const double usual_s =
      std::max(0.0, training.statistics.typical_s - training.statistics.typical_rest_s);
  for (const auto& [step, before_s] : training.overview->kept) {
    if (before_s < 0 || !step.duration_s || !step.input_wait_s) continue;
    const double excess_s = *step.input_wait_s - usual_s;
    const bool is_first = std::any_of(training.epochs.begin(), training.epochs.end(),
                                      [from_s = before_s, to_s = step.time_s](const Epoch& each) {
                                        return each.time_s >= from_s && each.time_s < to_s;
                                      });
    if (!is_first || step.covers != 1 || !(excess_s > training.statistics.typical_s)) continue;
    later_starts_.push_back({step.time_s - *step.duration_s, step.time_s, excess_s});
  }
}

bool ReportedTime::has_pauses(std::string_view kind) const {
  return std::any_of(step_time_.pauses.begin(), step_time_.pauses.end(),
                     [&](const Pause& pause) { return pause.kind == kind; });
}

double ReportedTime::paused_s(std::string_view kind, double from_s, double to_s) const {
  double sum_s = 0;
  for (const Pause& pause : step_time_.pauses) {
    if (pause.kind != kind) continue;
    sum_s += part_within(pause.lost_s, pause.from_s, pause.to_s, from_s, to_s);
  }
  return sum_s;
}

double ReportedTime::unhidden_input_s(double from_s, double to_s) const {
  double sum_s = 0;
  for (const Pause& pause : step_time_.pauses) {
    if (pause.kind != "input") continue;
    const double beyond_s = std::max(0.0, pause.to_s - pause.from_s - typical_rest_s_);
    sum_s += part_within(beyond_s, pause.from_s, pause.to_s, from_s, to_s);
  }
  return sum_s;
}

double ReportedTime::start_waits_s(double from_s, double to_s) const {
  double sum_s = 0;
  for (const StartWait& wait : later_starts_) {
    sum_s += part_within(wait.excess_s, wait.from_s, wait.to_s, from_s, to_s);
  }
  return sum_s;
}

std::optional<double> ReportedTime::share(std::string_view part, double from_s, double to_s) const {
  const double length_s = to_s - from_s;
  const bool is_input = part == "input";
  if (is_input && !knows_input_) return std::nullopt;
  if (is_input && steps_ > 0 && !timeline_.parts.empty()) {
    return std::clamp(timeline_.within(from_s, to_s).input_s / length_s, 0.0, 1.0);
  }
  if (!is_input && has_pauses(part)) return std::min(1.0, paused_s(part, from_s, to_s) / length_s);
  const auto found = shares_.find(part);
  if (found == shares_.end()) return is_input ? std::optional(0.0) : std::nullopt;
  return found->second;
}

std::optional<double> ReportedTime::lost_input(double from_s, double to_s) const {
  const auto whole = share("input", from_s, to_s);
  const StepTimeline::Part sum = timeline_.within(from_s, to_s);
  if (!whole || !(sum.known_s > 0)) return whole;
  return std::min(1.0, sum.lost_s / sum.known_s);
}

double ReportedTime::long_steps_share(double from_s, double to_s) const {
  return std::min(1.0, paused_s(kUnexplained, from_s, to_s) / (to_s - from_s));
}

std::optional<double> ReportedTime::saving_share(double from_s, double to_s) const {
  constexpr double kMostly = 0.6;
  if (!saving_) return std::nullopt;
  // What is saved is often made or copied first.
  return (*saving_ >= kMostly ? 1 : *saving_) * long_steps_share(from_s, to_s);
}

std::optional<ReportedTime::NamedShare> ReportedTime::largest_other_phase() const {
  std::optional<NamedShare> largest;
  for (const auto& [name, share] : shares_) {
    TrainingPhase phase;
    phase.name = name;
    if (phase.is_step_phase() || phase.is_pause()) continue;
    if (!largest || share > largest->share) largest = NamedShare{name, share};
  }
  return largest;
}

}  // namespace trainscope
