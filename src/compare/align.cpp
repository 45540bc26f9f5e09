#include "compare/align.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "model/training.h"

namespace trainscope {

namespace {

// The first batch takes the start of the workers that load it.
bool is_slow_start(const Step& first, const StepStatistics& statistics) {
  const double usual_s = std::max(0.0, statistics.typical_s - statistics.typical_rest_s);
  return first.kind != "warmup" && first.input_wait_s.value_or(0) - usual_s > statistics.typical_s;
}

}  // namespace

RunPart whole_part(const RunView& run) {
  const Training& training = run.training();
  RunPart part{0, run.duration_s(), 0, 0};
  if (!training.overview || !(training.statistics.steps > 0)) return part;
  double begin_s = training.begin_s;
  for (const StepOverview::Kept& kept : training.overview->kept) {
    if (kept.step.kind == "warmup") begin_s = std::max(begin_s, kept.step.time_s);
  }
  RunPart compared{begin_s, training.end_s, training.statistics.steps,
                   static_cast<double>(training.warmup_steps)};
  const std::vector<StepOverview::Kept>& kept = training.overview->kept;
  const auto first = std::find_if(kept.begin(), kept.end(), [](const StepOverview::Kept& each) {
    return each.step.mean_s().has_value();
  });
  if (first != kept.end() && is_slow_start(first->step, training.statistics)) {
    const auto covers = static_cast<double>(first->step.covers);
    compared.begin_s = std::max(begin_s, first->step.time_s);
    compared.steps -= covers;
    compared.warmup_steps += covers;
    compared.is_first_left_out = true;
  }
  return compared.end_s > compared.begin_s ? compared : part;
}

Result<PartLimits> common_limits(std::span<const RunPart> parts, Align align) {
  PartLimits limits;
  if (align == Align::progress) return limits;
  for (const RunPart& part : parts) {
    const double length_s = part.end_s - part.begin_s;
    if (align == Align::time) {
      limits.length_s = std::min(limits.length_s.value_or(length_s), length_s);
    } else if (!(part.steps > 0)) {
      return Error("cannot align by step: a run has no steps; try --align time");
    } else {
      limits.steps = std::min(limits.steps.value_or(part.steps), part.steps);
    }
  }
  return limits;
}

std::string part_rule_text(Align align, bool has_steps, const PartLimits& limits) {
  const std::string_view warmup =
      "the first steps that took more than twice the median without waiting for data (at most "
      "10), or a first step that waited much longer for data than others, and everything before "
      "them, are left out as warm-up";
  std::string text = has_steps ? std::string(warmup)
                               : "the whole runs are compared: without steps the warm-up is "
                                 "unknown";
  if (align == Align::time && limits.length_s) {
    text += fmt::format("; then the first {} of each run", duration_text(*limits.length_s));
  } else if (align == Align::step && limits.steps) {
    text += fmt::format("; then the first {:.0f} steps of each run", *limits.steps);
  }
  return text;
}

}  // namespace trainscope
