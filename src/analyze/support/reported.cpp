#include "analyze/support/reported.h"

#include <algorithm>

namespace trainscope {

namespace {

constexpr std::string_view kCommunication = "communication";
// Fewer samples than this outside of long steps show nothing about what is usual.
constexpr double kLeastSamples = 8;
// What hours show, days would not show better.
constexpr double kMostReadS = 6 * 3600;
constexpr std::string_view kBurstsMark = "phases are timed in bursts";

// Times and amounts, inside of pauses and altogether.
struct Divided {
  double time_s = 0, amount = 0, paused_time_s = 0, paused_amount = 0, samples_outside = 0;

  void add(const Divided& other) {
    time_s += other.time_s;
    amount += other.amount;
    paused_time_s += other.paused_time_s;
    paused_amount += other.paused_amount;
    samples_outside += other.samples_outside;
  }
  std::optional<double> concentration() const {
    if (!(amount > 0) || samples_outside < kLeastSamples) return std::nullopt;
    const double usual = paused_time_s / time_s;
    return std::clamp((paused_amount / amount - usual) / (1 - usual), 0.0, 1.0);
  }
  // Per second of the pauses, of what it is at other times.
  std::optional<double> ratio() const {
    const double outside = amount - paused_amount;
    if (!(outside > 0) || !(paused_time_s > 0) || samples_outside < kLeastSamples) {
      return std::nullopt;
    }
    return (paused_amount / paused_time_s) / (outside / (time_s - paused_time_s));
  }
};

// Divides a counter, of which points are added part by part in order of time.
class DividedSeries {
 public:
  explicit DividedSeries(const std::vector<Pause>& pauses)
      : pauses_(pauses), pause_(pauses.begin()) {}

  void add(const Points& points) {
    for (size_t i = 0; i < points.time_s.size(); ++i) {
      if (points.present[i] == 0) continue;
      if (has_before_ && points.value[i] >= before_) add(points.time_s[i], points.value[i]);
      before_s_ = points.time_s[i];
      before_ = points.value[i];
      has_before_ = true;
    }
  }
  const Divided& divided() const { return divided_; }

 private:
  // An interval between two samples that overlaps a pause belongs to it: what happened in the
  // overlap is not known.
  void add(double to_s, double value) {
    while (pause_ != pauses_.end() && pause_->to_s <= before_s_) ++pause_;
    const bool is_paused = pause_ != pauses_.end() && pause_->from_s < to_s;
    const double length_s = to_s - before_s_, more = value - before_;
    divided_.time_s += length_s;
    divided_.amount += more;
    divided_.paused_time_s += is_paused ? length_s : 0;
    divided_.paused_amount += is_paused ? more : 0;
    divided_.samples_outside += is_paused ? 0 : 1;
  }

  const std::vector<Pause>& pauses_;
  std::vector<Pause>::const_iterator pause_;
  Divided divided_;
  double before_s_ = 0, before_ = 0;
  bool has_before_ = false;
};

bool is_write(const Series& series) {
  return series.metric == "job.io.bytes" && series.status != SeriesStatus::absent &&
         series.labels == Labels{{"direction", "write"}};
}

bool is_cpu_time(const Series& series) {
  return series.metric == "job.cpu.time" && series.status != SeriesStatus::absent;
}

// The sum over all series that `is_wanted` accepts.
Result<Divided> divide(const RunView& run, bool (*is_wanted)(const Series&),
                       const std::vector<Pause>& pauses, double begin_s, double end_s) {
  Divided sum;
  if (pauses.empty()) return sum;
  const std::vector<Series>& series = run.recorded_series();
  for (size_t i = 0; i < series.size(); ++i) {
    if (!is_wanted(series[i])) continue;
    DividedSeries divided(pauses);
    for (const Range& part : run.parts_of({begin_s, end_s - begin_s, 1})) {
      TS_TRY(const Points points, run.points(i, part));
      divided.add(points);
    }
    sum.add(divided.divided());
  }
  return sum;
}

// That the instrumentation times in some steps only, if timing all of them takes too long.
bool may_be_in_bursts(const PhaseSum& sum) {
  TrainingPhase phase;
  phase.name = sum.name;
  return phase.is_compute() || sum.name == "transfer";
}

}  // namespace

bool are_phases_in_bursts(const RunView& run) {
  const auto& events = run.events();
  return std::any_of(events.begin(), events.end(),
                     [](const Event& event) { return event.text.starts_with(kBurstsMark); });
}

// The first steps may contain what is done once, such as connecting the ranks: of their time counts
// what later steps would have taken.
double usual_time_s(const Training& training, const PhaseSum& sum, double time_s) {
  const double steps = training.statistics.steps;
  if (!(steps > 0)) return time_s;
  const double first_s = std::min(sum.warmup_s, time_s), later_s = time_s - first_s;
  return later_s + std::min(first_s, later_s / steps * static_cast<double>(training.warmup_steps));
}

PhaseTimes own_phase_times(const RunView& run) {
  const Training& training = run.training();
  PhaseTimes times;
  // Steps that the job itself reports do not state which of them the instrumentation has timed.
  const bool are_bursts_unknown = !training.statistics.timed_share && are_phases_in_bursts(run);
  for (const PhaseSum& sum : training.phase_sums) {
    if (are_bursts_unknown && may_be_in_bursts(sum)) continue;
    if (const auto time_s = training.time_in_all_steps(sum)) {
      times[sum.name] = usual_time_s(training, sum, *time_s);
    }
  }
  return times;
}

PhaseTimes phase_times(const RunView& run) {
  PhaseTimes times = own_phase_times(run);
  if (const auto& others_s = run.training().other_communication_s) {
    double& most = times[std::string(kCommunication)];
    most = std::max(most, *others_s);
  }
  return times;
}

Result<std::optional<double>> writes_in_pauses(const RunView& run, const std::vector<Pause>& pauses,
                                               double begin_s, double end_s) {
  TS_TRY(const Divided divided, divide(run, is_write, pauses, begin_s, end_s));
  return divided.concentration();
}

Result<std::optional<double>> work_in_pauses(const RunView& run, const std::vector<Pause>& pauses,
                                             double begin_s, double end_s) {
  const double to_s = std::min(end_s, begin_s + kMostReadS);
  TS_TRY(const Divided divided, divide(run, is_cpu_time, pauses, begin_s, to_s));
  return divided.ratio();
}

Result<std::optional<PhaseSpan>> find_phase_span(const Training& training) {
  std::optional<PhaseSpan> span;
  const auto phases = training.details->phases();
  for (TrainingPhase phase;;) {
    TS_TRY(const bool has_more, phases->next(phase));
    if (!has_more) return span;
    if (!phase.who.empty() || phase.is_pause()) continue;
    if (!span) span = PhaseSpan{phase.from_s, phase.to_s, 0, 0};
    span->from_s = std::min(span->from_s, phase.from_s);
    span->to_s = std::max(span->to_s, phase.to_s);
    if (phase.is_input() && !(span->first_input_to_s > 0)) {
      span->first_input_s = phase.to_s - phase.from_s;
      span->first_input_to_s = phase.to_s;
    }
  }
}

}  // namespace trainscope
