#include "analyze/support/reported.h"

#include <algorithm>

namespace trainscope {

namespace {

constexpr size_t kMostRanks = 4096;
constexpr std::string_view kCommunication = "communication";
// Fewer samples than this outside of long steps show nothing about what is usual.
constexpr double kLeastSamples = 8;
// What hours show, days would not show better.
constexpr double kMostReadS = 6 * 3600;

// Times and amounts, inside of pauses and altogether.
struct Divided {
  double time_s = 0, amount = 0, paused_time_s = 0, paused_amount = 0, samples_outside = 0;

  // An interval between two samples that overlaps a pause belongs to it: what happened in the
  // overlap is not known.
  void add(const Points& points, const std::vector<Pause>& pauses) {
    auto pause = pauses.begin();
    size_t before = points.time_s.size();
    for (size_t i = 0; i < points.time_s.size(); ++i) {
      if (points.present[i] == 0) continue;
      if (before < i && points.value[i] >= points.value[before]) {
        const double from_s = points.time_s[before], to_s = points.time_s[i];
        while (pause != pauses.end() && pause->to_s <= from_s) ++pause;
        const bool is_paused = pause != pauses.end() && pause->from_s < to_s;
        const double more = points.value[i] - points.value[before];
        time_s += to_s - from_s;
        amount += more;
        paused_time_s += is_paused ? to_s - from_s : 0;
        paused_amount += is_paused ? more : 0;
        samples_outside += is_paused ? 0 : 1;
      }
      before = i;
    }
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

bool is_write(const Series& series) {
  return series.metric == "job.io.bytes" && series.status != SeriesStatus::absent &&
         series.labels == Labels{{"direction", "write"}};
}

}  // namespace

std::map<std::string, double, std::less<>> phase_times(const Training& training) {
  std::map<std::string, double, std::less<>> times;
  for (const PhaseSum& sum : training.phase_sums) times[sum.name] = sum.time_s;
  if (training.other_communication_s) {
    double& most = times[std::string(kCommunication)];
    most = std::max(most, *training.other_communication_s);
  }
  return times;
}

Result<std::optional<double>> ddp_communication_s(const Training& training) {
  std::optional<double> most;
  if (!training.has_other_senders) return most;
  std::map<std::string, std::pair<double, double>, std::less<>> ranks;  // whole, hidden
  const auto numbers = training.details->numbers();
  TrainingNumber number;
  for (;;) {
    TS_TRY(const bool has_more, numbers->next(number));
    if (!has_more) break;
    if (!number.name.starts_with("ddp.communication") ||
        (ranks.size() >= kMostRanks && !ranks.contains(number.who))) {
      continue;
    }
    auto& [whole_s, hidden_s] = ranks[number.who];
    (number.name == "ddp.communication_s" ? whole_s : hidden_s) = number.value;
  }
  for (const auto& [who, times] : ranks) {
    most = std::max(most.value_or(0), times.first - times.second);
  }
  return most;
}

Result<std::optional<double>> writes_in_pauses(const RunView& run, const std::vector<Pause>& pauses,
                                               double begin_s, double end_s) {
  if (pauses.empty()) return std::optional<double>();
  const std::vector<Series>& series = run.recorded_series();
  const auto writes = std::find_if(series.begin(), series.end(), is_write);
  if (writes == series.end()) return std::optional<double>();
  TS_TRY(const Points points,
         run.points(static_cast<size_t>(writes - series.begin()), {begin_s, end_s}));
  Divided divided;
  divided.add(points, pauses);
  return divided.concentration();
}

Result<std::optional<double>> work_in_pauses(const RunView& run, const std::vector<Pause>& pauses,
                                             double begin_s, double end_s) {
  Divided divided;
  const double to_s = std::min(end_s, begin_s + kMostReadS);
  const std::vector<Series>& series = run.recorded_series();
  for (size_t i = 0; i < series.size() && !pauses.empty(); ++i) {
    const bool is_cpu =
        series[i].metric == "job.cpu.time" && series[i].status != SeriesStatus::absent;
    if (!is_cpu) continue;
    TS_TRY(const Points points, run.points(i, {begin_s, to_s}));
    divided.add(points, pauses);
  }
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
