#include "analyze/support/costliest_stalls.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"

namespace trainscope {

namespace {

// Less than this part of the training is not worth a word.
constexpr double kWorthAWord = 0.01;
// A shorter interruption may lie between two samples.
constexpr double kLeastPeriods = 2;
constexpr size_t kMostCompany = 4;
constexpr double kRoundingS = 1e-6;  // of the end of what is judged

// From when on a signal is worth a word, and how far above its usual value.
struct Noticeable {
  Signal signal;
  double least;
};
constexpr double kAboveUsual = 1.25;
constexpr std::array<Noticeable, 19> kNoticeable = {{{Signal::throttled, 0.05},
                                                     {Signal::steal_cores, 0.1},
                                                     {Signal::main_on_disk, 0.1},
                                                     {Signal::disk_read_bytes, 1e6},
                                                     {Signal::disk_write_bytes, 1e6},
                                                     {Signal::swap_bytes, 1e6},
                                                     {Signal::major_faults, 100},
                                                     {Signal::memory_pressure, 0.05},
                                                     {Signal::main_runnable, 0.1},
                                                     {Signal::worker_most, 0.3},
                                                     {Signal::io_pressure, 0.1},
                                                     {Signal::cpu_pressure, 0.2},
                                                     {Signal::read_bytes, 1e6},
                                                     {Signal::network_bytes, 1e6},
                                                     {Signal::gpu_copied, 1e9},
                                                     {Signal::gpu_throttled_heat, 0.1},
                                                     {Signal::other_running, 0.3},
                                                     {Signal::main_running, 0.3},
                                                     {Signal::main_blocked, 0.3}}};

std::string company_text(Signal signal, double value, std::optional<double> usual) {
  std::string text =
      fmt::format("{} {}", signal_spec(signal).name, seen_text(value, signal_unit(signal)));
  if (usual) text += fmt::format(" ({} on average)", seen_text(*usual, signal_unit(signal)));
  return text;
}

// What was sampled seldom shows what was before and after a short interruption, not in it.
std::optional<double> value_within(const Evidence& then, Signal signal) {
  const bool is_seldom = then.training_s() < kLeastPeriods * then.period_s(signal);
  return is_seldom ? std::nullopt : then.mean(signal);
}

// What went on at that time, and how that differs from the rest of the training.
std::string meanwhile(const Evidence& then, const Evidence& all) {
  std::vector<std::string> parts;
  const auto add_always = [&](Signal signal) {
    if (const auto value = value_within(then, signal)) {
      parts.push_back(company_text(signal, *value, all.mean(signal)));
    }
  };
  add_always(Signal::job_cores);
  if (all.uses_gpu()) add_always(Signal::gpu_busy);
  const auto others =
      value_within(then, Signal::machine_cores) ? then.others_cores() : std::nullopt;
  if (others && *others > 0.3) {
    parts.push_back(fmt::format("CPU of others {} cores", number_text(*others)));
  }
  const size_t most = parts.size() + kMostCompany;
  for (const Noticeable& each : kNoticeable) {
    const auto value = value_within(then, each.signal), usual = all.mean(each.signal);
    if (parts.size() == most || !value || *value < each.least) continue;
    if (usual && *value < kAboveUsual * *usual) continue;
    parts.push_back(company_text(each.signal, *value, usual));
  }
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

std::string kind_text(const std::string& kind) {
  if (kind == "input") return "waiting for data";
  return kind == "unexplained" ? "of unknown cause" : kind;
}

Result<std::string> describe(const RunView& run, const Evidence& evidence, const Pause& pause) {
  const char* const place = pause.is_after_last_step      ? "after"
                            : pause.kind == "unexplained" ? "in"
                                                          : "before";
  std::string text = fmt::format("{} at {:.1f} s, {} step {}, {}", duration_text(pause.lost_s),
                                 pause.from_s, place, pause.step, kind_text(pause.kind));
  const double period_s = run.sampling().period_s;
  if (pause.to_s - pause.from_s < kLeastPeriods * period_s) {
    return text + fmt::format("; too short for samples every {}", duration_text(period_s));
  }
  TS_TRY(const Evidence then, evidence.of_time(run, pause.from_s, pause.to_s));
  const std::string company = meanwhile(then, evidence);
  return company.empty() ? text : text + "; meanwhile " + company;
}

// Of the steps that are judged, the costliest first.
std::vector<const Pause*> pauses_by_cost(const Evidence& evidence) {
  const TimeWindows& windows = evidence.windows();
  std::vector<const Pause*> pauses;
  for (const Pause& pause : evidence.reported().step_time().pauses) {
    const bool is_after = pause.is_after_last_step && pause.to_s > windows.end_s() + kRoundingS;
    const bool is_outside = is_after || pause.to_s <= windows.begin_s;
    if (!is_outside && pause.lost_s > 0) pauses.push_back(&pause);
  }
  const auto shown = std::min(pauses.size(), kShownStalls);
  std::partial_sort(pauses.begin(), pauses.begin() + static_cast<std::ptrdiff_t>(shown),
                    pauses.end(), [](const Pause* a, const Pause* b) {
                      return std::pair(-a->lost_s, a->from_s) < std::pair(-b->lost_s, b->from_s);
                    });
  return pauses;
}

}  // namespace

Result<std::optional<Finding>> costliest_stalls(const RunView& run, const Evidence& evidence) {
  std::vector<const Pause*> pauses = pauses_by_cost(evidence);
  const size_t all = pauses.size();
  pauses.resize(std::min(all, kShownStalls));
  double lost_s = 0;
  for (const Pause* pause : pauses) lost_s += pause->lost_s;
  const double training_s = evidence.training_s();
  if (pauses.empty() || lost_s < kWorthAWord * training_s) return std::optional<Finding>();
  Finding finding;
  finding.id = "costliest_stalls";
  finding.severity = "info";
  finding.summary =
      fmt::format("{} {:.0f} % of the time",
                  all == 1 ? "one interruption of the steps took"
                           : fmt::format("the costliest {} of {} interruptions of the steps took",
                                         pauses.size(), all),
                  100 * std::min(1.0, lost_s / training_s));
  finding.from_s = pauses.front()->from_s;
  finding.to_s = pauses.front()->to_s;
  for (const Pause* pause : pauses) {
    finding.from_s = std::min(*finding.from_s, pause->from_s);
    finding.to_s = std::max(*finding.to_s, pause->to_s);
    TS_TRY(std::string line, describe(run, evidence, *pause));
    finding.evidence.push_back(std::move(line));
  }
  finding.time_lost_s = lost_s;
  if (lost_s < training_s) finding.max_speedup = training_s / (training_s - lost_s);
  return std::optional(std::move(finding));
}

}  // namespace trainscope
