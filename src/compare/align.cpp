#include "compare/align.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "model/training.h"

namespace trainscope {

RunPart whole_part(const RunView& run) {
  const Training& training = run.training();
  RunPart part{0, run.duration_s(), 0, 0};
  if (!training.overview || !(training.statistics.steps > 0)) return part;
  double begin_s = training.begin_s;
  for (const StepOverview::Kept& kept : training.overview->kept) {
    if (kept.step.kind == "warmup") begin_s = std::max(begin_s, kept.step.time_s);
  }
  if (!(training.end_s > begin_s)) return part;
  return {begin_s, training.end_s, training.statistics.steps,
          static_cast<double>(training.warmup_steps)};
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
      "10), and everything before them, are left out as warm-up";
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
