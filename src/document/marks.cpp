// What happened when: phases, pauses, events, gaps, and where the time went over time.
#include <algorithm>
#include <cmath>

#include "analyze/analyze.h"
#include "base/json.h"
#include "document/document.h"
#include "document/gaps.h"
#include "model/job_process.h"
#include "model/training.h"

namespace trainscope {

namespace {

constexpr size_t kMostMarked = 2000;  // of a kind: more cannot be told apart on a screen
constexpr size_t kMostTimeParts = 200;

struct MarkedPhase {
  std::string name;
  double from_s = 0, to_s = 0;
};

// Keeps the longest spans, by begin, and returns how many there were besides.
template <typename Span>
size_t keep_longest(std::vector<Span>& all) {
  const size_t left_out = all.size() > kMostMarked ? all.size() - kMostMarked : 0;
  if (left_out > 0) {
    const auto is_longer = [](const Span& a, const Span& b) {
      return a.to_s - a.from_s > b.to_s - b.from_s;
    };
    std::nth_element(all.begin(), all.begin() + kMostMarked, all.end(), is_longer);
    all.resize(kMostMarked);
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Span& a, const Span& b) { return a.from_s < b.from_s; });
  return left_out;
}

std::vector<MarkedPhase> phases_of(const RunView& run) {
  std::vector<MarkedPhase> all;
  for (const Phase& phase : run.manifest().phases) {
    all.push_back({phase.name, phase.from_s, phase.to_s.value_or(run.duration_s())});
  }
  for (const TrainingPhase& phase : run.training().phases) {
    all.push_back({phase.name, phase.from_s, phase.to_s});
  }
  return all;
}

std::vector<Pause> pauses_of(const std::vector<CompletedAnalysis>& completed) {
  std::vector<Pause> all;
  for (const auto& [analysis, result] : completed) {
    all.insert(all.end(), result.pauses.begin(), result.pauses.end());
  }
  return all;
}

// What happened in the run; not what programs look up there.
std::vector<Event> events_to_mark(const RunView& run) {
  std::vector<Event> all = run.events();
  std::erase_if(all, [](const Event& event) { return event.kind == kJobProcessEvent; });
  return all;
}

// The first events. Those of gaps come after the others: their gaps are shown anyway.
Json first_events(const std::vector<Event>& all) {
  const auto is_of_gap = [](const Event& event) { return event.kind == "gap"; };
  const auto gaps = static_cast<size_t>(std::count_if(all.begin(), all.end(), is_of_gap));
  size_t others_left = std::min(kMostMarked, all.size() - gaps);
  size_t gaps_left = std::min(gaps, kMostMarked - others_left);
  Json events = Json::array();
  for (const Event& event : all) {
    size_t& left = is_of_gap(event) ? gaps_left : others_left;
    if (left == 0) continue;
    --left;
    events.push_back({{"time_s", event.time_s}, {"kind", event.kind}, {"text", event.text}});
  }
  return events;
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
  std::vector<MarkedPhase> phases = phases_of(run);
  std::vector<Pause> pauses = pauses_of(completed);
  std::vector<Gap> gaps = run.sampling().gaps;
  const auto gaps_left_out = static_cast<int64_t>(keep_longest(gaps));
  const std::vector<Event> all_events = events_to_mark(run);
  Json events = first_events(all_events);
  const auto events_left_out = static_cast<int64_t>(all_events.size() - events.size());
  Json document = {{"phases", Json::array()},
                   {"left_out", keep_longest(phases)},
                   {"pauses", Json::array()},
                   {"left_out_pauses", keep_longest(pauses)},
                   {"events", std::move(events)},
                   {"left_out_events", events_left_out + run.left_out_events()},
                   {"left_out_gaps", gaps_left_out + run.sampling().left_out_gaps},
                   {"parts", time_parts(run.training())}};
  for (const MarkedPhase& phase : phases) {
    document["phases"].push_back(
        {{"name", phase.name}, {"from_s", phase.from_s}, {"to_s", phase.to_s}});
  }
  for (const Pause& pause : pauses) {
    document["pauses"].push_back({{"from_s", pause.from_s},
                                  {"to_s", pause.to_s},
                                  {"lost_s", pause.lost_s},
                                  {"reason", pause.kind}});
  }
  document["gaps"] = gaps_json(gaps);
  return document;
}

}  // namespace trainscope
