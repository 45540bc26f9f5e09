#include "probe/probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "base/text.h"
#include "model/job_gpus.h"
#include "probe/blocks.h"
#include "probe/experiments.h"
#include "probe/paired.h"

namespace trainscope {

namespace {

constexpr std::string_view kCannot = "cannot ";   // "cannot input: REASON"
constexpr std::string_view kStopped = "stopped";  // "stopped in PLACE: ERROR"

struct Pairs {
  std::vector<double> log_ratios;
  std::vector<double> without_giving;  // without the time to hand out batches again
  double slept_s = 0, given_s = 0, usual_s = 0, changed_steps = 0, usual_steps = 0;
  double sleep_share = 0;  // the same in all of them
  int64_t discarded_steps = 0;

  void add(const ProbeBlock& changed, const ProbeBlock& usual) {
    const auto changed_s = changed.mean_s(), usual_s_each = usual.mean_s();
    if (!changed_s || !usual_s_each || *changed_s <= 0 || *usual_s_each <= 0) return;
    const double ratio = *changed_s / *usual_s_each;
    const double given = std::clamp(changed.given_s / changed.time_s, 0.0, kMostGiven);
    log_ratios.push_back(std::log(ratio));
    without_giving.push_back(std::log(ratio * (1 - given)));
    slept_s += changed.slept_s;
    given_s += given * changed.time_s;
    changed_steps += changed.steps;
    usual_s += usual.time_s;
    usual_steps += usual.steps;
    discarded_steps += changed.discarded + usual.discarded;
  }
  // A time in changed blocks, per step, over the usual step time.
  double share_of_step(double time_s) const {
    return usual_s > 0 && changed_steps > 0 ? time_s / changed_steps / (usual_s / usual_steps) : 0;
  }

 private:
  static constexpr double kMostGiven = 0.99;  // of a step
};

// Two blocks of the same pair follow each other. The host's sleep is lengthened where a short one
// cannot be told from noise, and pairs of both lengths are not mixed.
Pairs pairs_of(std::string_view what, const std::vector<ProbeBlock>& blocks, double sleep_share) {
  Pairs pairs;
  pairs.sleep_share = sleep_share;
  for (size_t i = 0; i + 1 < blocks.size(); ++i) {
    const ProbeBlock& first = blocks[i];
    const ProbeBlock& second = blocks[i + 1];
    const bool is_pair = first.what == what && second.what == what && first.pair == second.pair &&
                         first.is_changed != second.is_changed && first.sleep_share == sleep_share;
    if (is_pair) pairs.add(first.is_changed ? first : second, first.is_changed ? second : first);
  }
  return pairs;
}

// Of the longest sleep that has enough pairs, or else of the shortest.
Pairs compared_pairs(std::string_view what, const std::vector<ProbeBlock>& blocks) {
  std::set<double, std::greater<>> shares;
  for (const ProbeBlock& block : blocks) {
    if (block.what == what) shares.insert(block.sleep_share);
  }
  Pairs pairs;
  for (const double share : shares) {
    pairs = pairs_of(what, blocks, share);
    if (paired_interval(pairs.log_ratios)) break;
  }
  return pairs;
}

// Between these the verdict is open; both are the same but for the host.
struct Bounds {
  double least = 0, most = 0;
};

Bounds bounds_of(const ProbeEffect& effect) {
  if (effect.what == kInput) return {kInputBound, kInputBound};
  if (effect.what != kHost) return {kProcessorsBound, kProcessorsBound};
  // Half of what was added: a thread that is critical adds all of it, another one nothing. On a
  // busy machine a thread that wakes waits for a processor: one that computes would have waited
  // without a sleep too and adds only what was asked for, one with slack may have lost it.
  const double most = 1 + effect.slept_share / 2;
  const bool is_known = effect.planned_share > 0;
  return {is_known ? std::min(most, 1 + effect.planned_share / 2) : most, most};
}

std::string_view verdict_of(const ProbeEffect& effect) {
  const Bounds bounds = bounds_of(effect);
  const bool is_above = *effect.low > bounds.most, is_below = *effect.high < bounds.least;
  if (effect.what == kInput) return is_below ? kLimiting : is_above ? kNotLimiting : kCannotTell;
  if (effect.what == kHost && effect.slept_share <= 0) return kCannotTell;
  return is_above ? kLimiting : is_below ? kNotLimiting : kCannotTell;
}

// What would give more pairs of blocks: more time helps only a job that would have gone on.
std::string more_pairs_text(const RunView& run) {
  constexpr int64_t kLeastMinutes = 10, kMinuteNs = 60'000'000'000;
  const auto ended_by = run.manifest().ended_by;
  if (ended_by == EndedBy::exit || ended_by == EndedBy::signal) {
    return "the job ended before there were more";
  }
  int64_t minutes = kLeastMinutes;
  for (const Setting& setting : run.manifest().settings) {
    if (setting.name != "for") continue;
    if (const auto ns = parse_duration(setting.value)) {
      minutes = std::max(minutes, 2 * *ns / kMinuteNs);
    }
  }
  return fmt::format("try --for {}m", minutes);
}

// `more`: what would help where no reason is known.
ProbeEffect effect_of(std::string_view what, const std::vector<ProbeBlock>& blocks,
                      const std::string& reason, const std::string& more) {
  ProbeEffect effect;
  effect.what = what;
  const Pairs pairs = compared_pairs(what, blocks);
  effect.blocks = 2 * static_cast<int64_t>(pairs.log_ratios.size());
  effect.discarded_steps = pairs.discarded_steps;
  const auto interval = paired_interval(pairs.log_ratios);
  const auto without_giving = paired_interval(pairs.without_giving);
  if (!interval || !without_giving) {
    const size_t count = pairs.log_ratios.size();
    const bool is_known = !reason.empty();
    effect.reason = is_known && count == 0
                        ? reason
                        : fmt::format("{} of blocks {} too few: {}",
                                      counted(static_cast<int64_t>(count), "pair"),
                                      count == 1 ? "is" : "are", is_known ? reason : more);
    return effect;
  }
  effect.ratio = std::exp(interval->estimate);
  effect.low = std::exp(std::min(interval->low, without_giving->low));
  effect.high = std::exp(interval->high);
  effect.slept_share = pairs.share_of_step(pairs.slept_s);
  effect.planned_share = pairs.sleep_share;
  effect.given_share = pairs.share_of_step(pairs.given_s);
  effect.verdict = verdict_of(effect);
  return effect;
}

struct Marks {
  bool has_any = false;
  std::vector<ProbeBlock> blocks;
  std::string reasons[std::size(kExperiments)];  // why something could not be changed
  std::string problem;
};

Marks read_marks(const RunView& run) {
  Marks marks;
  for (const Event& event : run.events()) {
    if (event.kind != "mark" || !event.text.starts_with(kProbeMark)) continue;
    const std::string_view text = std::string_view(event.text).substr(kProbeMark.size());
    if (auto block = parse_block(text, event.time_s)) {
      marks.blocks.push_back(std::move(*block));
    } else if (text.starts_with(kStopped)) {
      marks.problem = text;
    } else if (text.starts_with(kCannot)) {
      const size_t colon = std::min(text.find(": "), text.size());
      const std::string_view what = text.substr(kCannot.size(), colon - kCannot.size());
      for (size_t i = 0; i < std::size(kExperiments); ++i) {
        if (what == kExperiments[i])
          marks.reasons[i] = text.substr(std::min(colon + 2, text.size()));
      }
    } else if (text != "finished") {
      continue;  // a mark of the job's own
    }
    marks.has_any = true;
  }
  std::stable_sort(marks.blocks.begin(), marks.blocks.end(),
                   [](const ProbeBlock& a, const ProbeBlock& b) { return a.to_s < b.to_s; });
  return marks;
}

// What the interval would have to leave out.
std::string open_verdict(const ProbeEffect& effect) {
  if (effect.what == kHost && effect.slept_share <= 0) return "cannot tell: nothing was slept";
  const Bounds bounds = bounds_of(effect);
  const int digits = effect.what == kHost ? 3 : 2;
  const std::string most = fmt::format("{:.{}f}", bounds.most, digits);
  const std::string least = fmt::format("{:.{}f}", bounds.least, digits);
  return fmt::format(
      "cannot tell: the bound is {}; a longer --for, or an idle machine, narrows the interval",
      least == most ? most : fmt::format("{} to {}", least, most));
}

std::string conclusion_of(const ProbeEffect& effect) {
  const bool is_limiting = effect.verdict == kLimiting;
  if (effect.verdict == kCannotTell) return open_verdict(effect);
  if (effect.what == kInput) return is_limiting ? "input-bound, proven" : "input is not limiting";
  if (effect.what == kHost) {
    return is_limiting ? "the host thread is critical, proven" : "the host thread is not limiting";
  }
  if (is_limiting && effect.has_own_threads) {
    return "as many threads as before shared them, which may be the reason";
  }
  return is_limiting ? "processors are limiting (supporting evidence)"
                     : "processors are not limiting (supporting evidence)";
}

std::string change_text(const ProbeEffect& effect) {
  if (effect.what == kInput) return "without waiting for input";
  if (effect.what == kProcessors) return "with half of the processors";
  return fmt::format("with {:.1f} % of a step slept on the training thread",
                     100 * effect.slept_share);
}

// CPU time over time, in unchanged blocks.
void add_processors(const std::vector<ProbeBlock>& blocks, ProbeResult& result) {
  double cpu_s = 0, queued_s = 0, time_s = 0;
  for (const ProbeBlock& block : blocks) {
    if (block.is_changed || !block.cpu_s) continue;
    cpu_s += *block.cpu_s;
    queued_s += block.queued_s;
    time_s += block.to_s - block.from_s;
  }
  if (!(time_s > 0)) return;
  result.processors_used = cpu_s / time_s;
  result.processors_wanted = (cpu_s + queued_s) / time_s;
}

// Of those that the job computes on, from the first block to the last one. Another job may fill the
// other ones of the machine, so of several nothing is known unless the job's are.
Result<std::optional<double>> busiest_device(const RunView& run,
                                             const std::vector<ProbeBlock>& blocks) {
  std::optional<double> busiest;
  if (blocks.empty()) return busiest;
  const double begin_s = blocks.front().from_s, length_s = blocks.back().to_s - begin_s;
  if (!(length_s > 0)) return busiest;
  TS_TRY(const std::set<std::string> own, gpus_of_job(run, begin_s, begin_s + length_s));
  std::vector<WindowQuery> queries;
  const std::vector<Series>& series = run.recorded_series();
  for (size_t i = 0; i < series.size(); ++i) {
    const std::string gpu(value_of_label(series[i].labels, "gpu"));
    const bool is_own = own.empty() || own.contains(gpu);
    if (series[i].metric == "hw.gpu.utilization" && is_own) queries.push_back({i, Reading::level});
  }
  if (queries.empty() || (own.empty() && queries.size() > 1)) return busiest;
  TS_TRY(const auto folds, run.fold_windows(queries, {begin_s, length_s, 1}));
  for (const WindowFold& fold : folds) {
    if (fold.mean()) busiest = std::max(busiest.value_or(0), *fold.mean());
  }
  return busiest;
}

}  // namespace

bool ProbeResult::is_anything_measured() const {
  return std::any_of(effects.begin(), effects.end(),
                     [](const ProbeEffect& effect) { return effect.ratio.has_value(); });
}

Result<std::optional<ProbeResult>> read_probe(const RunView& run) {
  Marks marks = read_marks(run);
  if (!marks.has_any) return std::optional<ProbeResult>();
  TS_CHECK_OK(add_steps(run, marks.blocks));
  ProbeResult result;
  const std::string more = more_pairs_text(run);
  for (size_t i = 0; i < std::size(kExperiments); ++i) {
    result.effects.push_back(effect_of(kExperiments[i], marks.blocks, marks.reasons[i], more));
  }
  for (const ProbeBlock& block : marks.blocks) {
    result.has_device |= block.has_device;
    ProbeEffect& processors = result.effects.back();
    processors.has_own_threads |= block.what == kProcessors && block.has_own_threads;
    result.has_replaced_input |= block.what == kInput && block.is_changed;
  }
  add_processors(marks.blocks, result);
  if (result.has_device) {
    TS_TRY(result.device_busy, busiest_device(run, marks.blocks));
  }
  result.problem = marks.problem;
  return std::optional(std::move(result));
}

ProbeResult nothing_measured(const std::string& reason) {
  ProbeResult result;
  for (const std::string_view what : kExperiments) {
    ProbeEffect effect;
    effect.what = what;
    effect.reason = reason;
    result.effects.push_back(std::move(effect));
  }
  return result;
}

std::string effect_sentence(const ProbeEffect& effect) {
  constexpr double kWorthNaming = 0.005;  // of a usual step
  if (!effect.ratio) return "cannot tell: " + effect.reason;
  // Small numbers, and the effect of a short sleep, need a digit more.
  const int digits = effect.what == kHost || *effect.ratio < 0.1 ? 3 : 2;
  const std::string given =
      effect.given_share < kWorthNaming
          ? ""
          : fmt::format(" (at most: handing out batches again takes {:.{}f} of it)",
                        effect.given_share, digits);
  return fmt::format("{} steps take {:.{}f} [{:.{}f}, {:.{}f}] of the time{}: {}",
                     change_text(effect), *effect.ratio, digits, *effect.low, digits, *effect.high,
                     digits, given, conclusion_of(effect));
}

}  // namespace trainscope
