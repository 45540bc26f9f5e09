// step_time: breakdown of step time, and interruptions.
//
// Uses the steps and phases that the job reported; steps are read again only if thousands of them
// are long. A step is long if it took more than twice the median and exceeds the usual scatter (5
// scaled MADs). The part of a long step beyond the median is a pause: of the kind `input` if
// waiting for data fills half of it, otherwise `unexplained`; checkpoints and evaluations are
// pauses with their own names. Without phases the parts of a step are unknown, and all of it is
// `unexplained`; if only compute phases are reported, what they do not fill is. Reported transfer
// and communication are parts of their own; one inside of an input phase counts for both. A step
// without its own time (Step::average_s) is never long. A slow first batch is part of the warm-up:
// loading starts with it.
//
// Findings, all of severity info: one per kind of pause, with the time that it took and how much
// faster the steps would be without it. Pauses before the first step and after the last one are
// part of the start-up and of the shutdown, and make no step slower.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "analyze/analyze.h"
#include "analyze/support/reported.h"
#include "base/text.h"
#include "model/training.h"

namespace trainscope::step_time_analysis {

namespace {

constexpr double kScatter = 5 * 1.4826;
constexpr double kLeastPause = 0.005;
constexpr const char* kTransfer = "transfer";
constexpr const char* kCommunication = "communication";

constexpr const char* kFewerEvaluations =
    "evaluate less often, or on fewer samples until the training ends";

constexpr size_t kLeastForPeriod = 4;

// The usual value of some that are nearly all within a fifth of it; nothing if they are not.
std::optional<double> usual_value(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const double median = values[values.size() / 2];
  const auto differs = [median](double value) { return std::abs(value - median) > median / 5; };
  const auto others = std::count_if(values.begin(), values.end(), differs);
  return 5 * static_cast<size_t>(others) <= values.size() ? std::optional(median) : std::nullopt;
}

// "one about every 1.2 s, every 10 steps", for pauses by time that come at regular intervals.
std::string period_text(const std::vector<const Pause*>& pauses) {
  if (pauses.size() < kLeastForPeriod) return "";
  std::vector<double> times, steps;
  for (size_t i = 1; i < pauses.size(); ++i) {
    times.push_back(pauses[i]->from_s - pauses[i - 1]->from_s);
    steps.push_back(static_cast<double>(pauses[i]->step - pauses[i - 1]->step));
  }
  const auto period_s = usual_value(times), period_steps = usual_value(steps);
  if (period_steps && *period_steps < 2) return "";  // most steps are long
  std::string text;
  if (period_s && *period_s > 0) text = "one about every " + duration_text(*period_s);
  if (period_steps) {
    text += (text.empty() ? "one about every " : ", every ") +
            counted(static_cast<int64_t>(*period_steps), "step");
  }
  return text;
}

class StepTime {
 public:
  StepTime(const Training& training, bool are_phases_complete, PhaseTimes phase_times)
      : training_(training),
        are_phases_complete_(are_phases_complete),
        phase_times_(std::move(phase_times)),
        typical_s_(training.statistics.typical_s),
        typical_rest_s_(training.statistics.typical_rest_s),
        long_s_(std::max({typical_s_, kScatter * training.statistics.deviation_s, kLeastPause})) {}

  Result<AnalysisResult> run() {
    add_named_pauses();
    if (training_.overview && shows_all_pauses(*training_.overview)) {
      divide_kept(*training_.overview);
    } else {
      TS_CHECK_OK(divide_all());
    }
    std::stable_sort(out_.pauses.begin(), out_.pauses.end(),
                     [](const Pause& a, const Pause& b) { return a.from_s < b.from_s; });
    add_parts();
    add_findings();
    return std::move(out_);
  }

 private:
  // No step that was left out is long.
  bool shows_all_pauses(const StepOverview& overview) const {
    const auto covers = static_cast<double>(overview.most_covered);
    return (overview.longest_s - typical_s_) * covers <= long_s_;
  }

  void divide_kept(const StepOverview& overview) {
    input_s_ += overview.input_s;
    compute_s_ += overview.rest_s;
    for (const auto& [step, before_s] : overview.kept) divide(step, before_s);
  }

  Status divide_all() {
    const auto steps = training_.details->steps();
    double before_s = -1;
    Step step;
    for (;;) {
      TS_TRY(const bool has_more, steps->next(step));
      if (!has_more) break;
      number_pauses(step.time_s, step.step);
      divide(step, before_s);
      before_s = step.time_s;
    }
    for (const size_t place : unnumbered_) out_.pauses[place].is_after_last_step = true;
    number_pauses(std::numeric_limits<double>::infinity(), step.step);
    return {};
  }

  // Pauses that ended by this time belong to this step.
  void number_pauses(double time_s, int64_t step) {
    for (; !unnumbered_.empty() && out_.pauses[unnumbered_.back()].to_s <= time_s;
         unnumbered_.pop_back()) {
      out_.pauses[unnumbered_.back()].step = step;
    }
  }

  // Checkpoints and evaluations. The time of several at once belongs to the one that began last.
  void add_named_pauses() {
    std::vector<size_t> open;  // places in out_.pauses, the innermost last
    double divided_s = 0;      // up to here all time is divided
    const auto divide_until = [&](double time_s) {
      while (!open.empty()) {
        Pause& innermost = out_.pauses[open.back()];
        const double end_s = std::min(time_s, innermost.to_s);
        innermost.lost_s += std::max(0.0, end_s - divided_s);
        divided_s = std::max(divided_s, end_s);
        if (innermost.to_s > time_s) break;
        open.pop_back();
      }
      divided_s = time_s;
    };
    for (const TrainingPhase& phase : training_.phases) {
      if (!phase.is_pause()) continue;
      divide_until(phase.from_s);
      open.push_back(out_.pauses.size());
      unnumbered_.push_back(out_.pauses.size());
      out_.pauses.push_back(
          {phase.name, phase.from_s, phase.to_s, 0, phase.next_step, phase.is_after_last_step});
    }
    divide_until(std::numeric_limits<double>::infinity());
    for (const Pause& pause : out_.pauses) {
      (pause.kind == "checkpoint" ? checkpoint_s_ : evaluation_s_) += pause.lost_s;
    }
    // The first to end is the last one here.
    std::sort(unnumbered_.begin(), unnumbered_.end(),
              [&](size_t a, size_t b) { return out_.pauses[a].to_s > out_.pauses[b].to_s; });
  }

  void divide(const Step& step, double before_s) {
    const auto mean_s = step.mean_s();
    if (!mean_s) return;
    if (step.communication_s) long_communication_s_ = long_communication_s_.value_or(0);
    const auto covers = static_cast<double>(step.covers);
    const double whole = *mean_s * covers;
    const double waited = step.input_wait_s.value_or(0) * covers;
    const double rest = std::max(0.0, whole - waited);
    const double start = before_s < 0 ? start_wait(waited) : 0;
    const double input = waited - start;
    const double more = whole - start - typical_s_ * covers;
    input_s_ += input;
    warmup_s_ += start;
    if (step.kind == "warmup") {
      const double usual = std::min(rest, typical_rest_s_ * covers);
      compute_s_ += usual;
      warmup_s_ += rest - usual;
      return;
    }
    // If several steps were reported as one, their average hides a pause unless it is long for all.
    if (more <= long_s_ || !step.duration_s || !training_.times_reason.empty()) {
      compute_s_ += rest;
      return;
    }
    const bool is_input = input > more / 2;
    const double unexplained = is_input ? 0 : std::max(0.0, rest - typical_rest_s_ * covers);
    unexplained_s_ += unexplained;
    compute_s_ += rest - unexplained;
    if (step.communication_s) {
      *long_communication_s_ += std::min(*step.communication_s * covers, unexplained);
    }
    add_pause(step, before_s, is_input, more);
  }

  // Of the wait for the first batch, what later ones do not take, if that is longer than a step.
  double start_wait(double waited_s) const {
    const double excess_s = waited_s - std::max(0.0, typical_s_ - typical_rest_s_);
    return excess_s > typical_s_ ? excess_s : 0;
  }

  void add_pause(const Step& step, double before_s, bool waited, double more) {
    Pause pause{waited ? "input" : "unexplained", std::max(0.0, before_s), step.time_s, more,
                step.step};
    if (before_s < 0) pause.from_s = step.time_s - *step.duration_s;
    if (waited && step.longest_wait_to_s > 0) {
      pause.from_s = step.longest_wait_from_s;
      pause.to_s = step.longest_wait_to_s;
    }
    out_.pauses.push_back(std::move(pause));
  }

  // What compute phases fill; all of it if only some steps have them.
  double reported_compute_s() const {
    double sum_s = 0;
    for (const PhaseSum& sum : training_.phase_sums) {
      TrainingPhase phase;
      phase.name = sum.name;
      if (phase.is_step_phase()) sum_s += sum.time_s;
    }
    return are_phases_complete_ ? std::min(sum_s, compute_s_) : compute_s_;
  }

  // Of phases that compute.
  double own_compute_s() const {
    if (!are_phases_complete_) return 0;
    double sum_s = 0;
    for (const auto& [name, time_s] : phase_times_) {
      TrainingPhase phase;
      phase.name = name;
      if (phase.is_compute()) sum_s += time_s;
    }
    return sum_s;
  }

  // What a reported phase takes of what is not input: what phases of compute leave, then of long
  // steps, which it may have made long; the rest is in phases of compute. `in_long_s`: how much of
  // it was in long steps, if that is known.
  double take_phase_s(std::string_view name, std::optional<double> in_long_s) {
    const auto found = phase_times_.find(name);
    if (found == phase_times_.end()) return 0;
    const double time_s = std::clamp(compute_s_ + unexplained_s_, 0.0, found->second);
    const double most_s = in_long_s
                              ? time_s - *in_long_s
                              : std::max(compute_s_ - own_compute_s(), time_s - unexplained_s_);
    const double of_compute_s = std::clamp(most_s, 0.0, std::min(time_s, compute_s_));
    compute_s_ -= of_compute_s;
    unexplained_s_ -= time_s - of_compute_s;
    return time_s;
  }

  void add_parts() {
    const bool divided = training_.has_input_phases || training_.has_compute_phases;
    if (divided && !training_.has_input_phases) {
      const double reported_s = reported_compute_s();
      unexplained_s_ += std::exchange(compute_s_, reported_s) - reported_s;
    }
    if (!divided) unexplained_s_ += std::exchange(compute_s_, 0);
    const double transfer_s = take_phase_s(kTransfer, std::nullopt);
    const double communication_s = take_phase_s(kCommunication, long_communication_s_);
    if (!divided) {
      const bool has_others = !training_.phase_sums.empty();
      out_.unknown = std::string(has_others ? "no input or compute phases" : "no phases") +
                     " reported; see trainscope send --help";
    }
    const std::pair<const char*, double> parts[] = {
        {"input", input_s_},           {"compute", compute_s_},
        {kTransfer, transfer_s},       {kCommunication, communication_s},
        {"checkpoint", checkpoint_s_}, {"evaluation", evaluation_s_},
        {"warmup", warmup_s_},         {"unexplained", unexplained_s_}};
    for (const auto& [name, time_s] : parts) sum_s_ += time_s;
    if (!(sum_s_ > 0)) return;
    for (const auto& [name, time_s] : parts) {
      if (time_s > 0) out_.breakdown.push_back({name, time_s / sum_s_, time_s});
    }
  }

  enum class When { start, training, shutdown };
  When when_of(const Pause& pause) const {
    if (pause.is_after_last_step) return When::shutdown;
    return pause.to_s <= training_.begin_s ? When::start : When::training;
  }

  void add_findings() {
    std::map<std::pair<std::string, When>, std::vector<const Pause*>> kinds;
    for (const Pause& pause : out_.pauses) {
      const When when = when_of(pause);
      if (when != When::training) sum_s_ -= pause.lost_s;
      kinds[{pause.kind, when}].push_back(&pause);
    }
    for (const auto& [key, pauses] : kinds) {
      out_.findings.push_back(describe(key.first, key.second, pauses));
    }
  }

  // The pauses of one kind, by time.
  Finding describe(const std::string& kind, When when,
                   const std::vector<const Pause*>& pauses) const {
    Finding finding;
    finding.id = (when == When::start      ? "startup_"
                  : when == When::shutdown ? "shutdown_"
                                           : "pauses_") +
                 kind;
    finding.severity = "info";
    double lost_s = 0;
    const Pause* longest = pauses.front();
    for (const Pause* pause : pauses) {
      lost_s += pause->lost_s;
      if (pause->lost_s > longest->lost_s) longest = pause;
    }
    finding.summary = fmt::format("{} {} pause{} took {}{}", pauses.size(), kind,
                                  pauses.size() == 1 ? "" : "s", duration_text(lost_s),
                                  when == When::start      ? " before the first step"
                                  : when == When::shutdown ? " after the last step"
                                                           : "");
    const char* const place = longest->is_after_last_step ? "after"
                              : kind == "unexplained"     ? "in"
                                                          : "before";
    finding.evidence = {fmt::format("the longest took {}, {:.3f} s after the start, {} step {}",
                                    duration_text(longest->lost_s), longest->from_s, place,
                                    longest->step)};
    if (const std::string period = period_text(pauses); !period.empty()) {
      finding.evidence.push_back(period);
    }
    finding.from_s = pauses.front()->from_s;
    finding.to_s = pauses.back()->to_s;
    finding.time_lost_s = lost_s;
    // No rule is about evaluations: no verdict is.
    if (kind == "evaluation" && when == When::training) finding.advice = kFewerEvaluations;
    if (when == When::training && sum_s_ > lost_s) finding.max_speedup = sum_s_ / (sum_s_ - lost_s);
    return finding;
  }

  const Training& training_;
  const bool are_phases_complete_;
  const PhaseTimes phase_times_;
  const double typical_s_, typical_rest_s_, long_s_;
  double input_s_ = 0, compute_s_ = 0, checkpoint_s_ = 0, evaluation_s_ = 0, warmup_s_ = 0,
         unexplained_s_ = 0, sum_s_ = 0;
  std::optional<double> long_communication_s_;  // of the unexplained part of long steps
  std::vector<size_t> unnumbered_;              // named pauses, the last to end first
  AnalysisResult out_;
};

Result<AnalysisResult> analyze(const RunView& run) {
  const Training& training = run.training();
  if (training.observed == 0) {
    AnalysisResult nothing;
    nothing.is_applicable = false;
    nothing.unknown = training.reason;
    return nothing;
  }
  return StepTime(training, !are_phases_in_bursts(run), own_phase_times(run)).run();
}

}  // namespace

extern const Analysis entry;
const Analysis entry = {
    .name = "step_time",
    .title = "step time",
    .summary =
        "breakdown of step time: input, compute, transfer, communication, checkpoints, "
        "evaluations, pauses",
    .needs = "steps; phases to separate input from compute (trainscope send --help)",
    .json_key = "breakdown",
    .analyze = analyze,
};

}  // namespace trainscope::step_time_analysis
