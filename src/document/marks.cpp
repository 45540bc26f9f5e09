// What happened when: phases, pauses, events, gaps, and where the time went over time.
#include <algorithm>
#include <cmath>

#include "analyze/analyze.h"
#include "base/json.h"
#include "document/document.h"
#include "model/training.h"

namespace trainscope {

namespace {

constexpr size_t kMostMarkedPhases = 2000, kMostMarkedEvents = 2000;
constexpr size_t kMostTimeParts = 200;

struct MarkedPhase {
  std::string name;
  double from_s = 0, to_s = 0;
};

// The longest ones, by begin; `left_out` is how many there are besides.
std::vector<MarkedPhase> marked_phases(const RunView& run, size_t& left_out) {
  std::vector<MarkedPhase> all;
  for (const Phase& phase : run.manifest().phases) {
    all.push_back({phase.name, phase.from_s, phase.to_s.value_or(run.duration_s())});
  }
  for (const TrainingPhase& phase : run.training().phases) {
    all.push_back({phase.name, phase.from_s, phase.to_s});
  }
  left_out = all.size() > kMostMarkedPhases ? all.size() - kMostMarkedPhases : 0;
  if (left_out > 0) {
    const auto is_longer = [](const MarkedPhase& a, const MarkedPhase& b) {
      return a.to_s - a.from_s > b.to_s - b.from_s;
    };
    std::nth_element(all.begin(), all.begin() + kMostMarkedPhases, all.end(), is_longer);
    all.resize(kMostMarkedPhases);
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const MarkedPhase& a, const MarkedPhase& b) { return a.from_s < b.from_s; });
  return all;
}

Json marked_pauses(const std::vector<CompletedAnalysis>& completed) {
  Json pauses = Json::array();
  for (const auto& [analysis, result] : completed) {
    for (const Pause& pause : result.pauses) {
      pauses.push_back({{"from_s", pause.from_s},
                        {"to_s", pause.to_s},
                        {"lost_s", pause.lost_s},
                        {"reason", pause.kind}});
    }
  }
  return pauses;
}

// The seconds of a phase that are within each of some equal parts of time.
void add_phase(const TrainingPhase& phase, const TimeWindows& windows, std::vector<double>& out) {
  for (size_t w = 0; w < windows.count; ++w) {
    const double from_s = std::max(phase.from_s, windows.edge_s(w));
    const double to_s = std::min(phase.to_s, windows.edge_s(w + 1));
    if (to_s > from_s) out[w] += to_s - from_s;
  }
}

// Waiting for input as reported with steps, checkpoints and evaluations, and the rest of the time
// from the first step to the last. Null if the job reported nothing of it.
Json time_parts(const Training& training) {
  const double begin_s = training.begin_s, end_s = training.end_s;
  const bool has_pauses = std::any_of(training.phases.begin(), training.phases.end(),
                                      [](const TrainingPhase& p) { return p.is_pause(); });
  if (!(end_s > begin_s) || !(training.has_input_phases || has_pauses)) return nullptr;
  const double windows_wanted = std::ceil((end_s - begin_s) / training.timeline.part_s);
  const auto count =
      static_cast<size_t>(std::clamp(windows_wanted, 1.0, static_cast<double>(kMostTimeParts)));
  const TimeWindows windows = {begin_s, (end_s - begin_s) / static_cast<double>(count), count};
  std::vector<std::string> names = {"input", "checkpoint", "evaluation", "rest"};
  std::vector<std::vector<double>> seconds(names.size(), std::vector<double>(count));
  for (size_t w = 0; w < count; ++w) {
    seconds[0][w] = training.timeline.within(windows.edge_s(w), windows.edge_s(w + 1)).input_s;
  }
  for (const TrainingPhase& phase : training.phases) {
    if (!phase.is_pause()) continue;
    add_phase(phase, windows, seconds[phase.name == "checkpoint" ? 1 : 2]);
  }
  Json from = Json::array(), to = Json::array(), shares = Json::array();
  for (size_t w = 0; w < count; ++w) {
    from.push_back(windows.edge_s(w));
    to.push_back(windows.edge_s(w + 1));
    double left = 1;
    Json row = Json::array();
    for (size_t part = 0; part + 1 < names.size(); ++part) {
      const double share = std::clamp(seconds[part][w] / windows.length_s, 0.0, left);
      left -= share;
      row.push_back(share);
    }
    row.push_back(left);
    shares.push_back(std::move(row));
  }
  return {{"names", names}, {"from_s", from}, {"to_s", to}, {"shares", shares}};
}

}  // namespace

Result<Json> marks_json(const RunView& run) {
  TS_TRY(const auto completed, run_analyses(run));
  size_t left_out = 0;
  Json phases = Json::array(), events = Json::array(), gaps = Json::array();
  for (const MarkedPhase& phase : marked_phases(run, left_out)) {
    phases.push_back({{"name", phase.name}, {"from_s", phase.from_s}, {"to_s", phase.to_s}});
  }
  for (const Event& event : run.events()) {
    if (events.size() == kMostMarkedEvents) break;
    events.push_back({{"time_s", event.time_s}, {"kind", event.kind}, {"text", event.text}});
  }
  for (const Gap& gap : run.sampling().gaps) {
    gaps.push_back({{"from_s", gap.from_s}, {"to_s", gap.to_s}, {"reason", gap.reason}});
  }
  const size_t left_out_events = run.events().size() - events.size();
  return Json{{"phases", std::move(phases)},        {"left_out", left_out},
              {"pauses", marked_pauses(completed)}, {"events", std::move(events)},
              {"left_out_events", left_out_events}, {"gaps", std::move(gaps)},
              {"parts", time_parts(run.training())}};
}

}  // namespace trainscope
