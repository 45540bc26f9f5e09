// Is training faster? Time per step of both sides, without warm-up, checkpoints and evaluations.
#include <cmath>

#include "compare/sides.h"

namespace trainscope {

namespace {

std::vector<Observed> step_blocks(const std::vector<ObservedRun>& runs) {
  std::vector<Observed> blocks;
  for (const ObservedRun& run : runs) blocks.push_back(run.steps->duration.blocks);
  return blocks;
}

// Of the run with the shortest ones.
double steps_per_block(const std::vector<ObservedRun>& runs) {
  double fewest = INFINITY;
  for (const ObservedRun& run : runs) {
    const auto blocks = static_cast<double>(run.steps->duration.blocks.means.size());
    fewest = std::min(fewest, run.steps->steps / blocks);
  }
  return fewest;
}

// A ratio of step times is the inverse of that of speeds.
std::optional<double> inverse(const std::optional<double>& value) {
  return value && *value > 0 ? std::optional(1 / *value) : std::nullopt;
}

std::string speed_verdict(Difference step_time) {
  if (step_time == Difference::lower) return "faster";
  if (step_time == Difference::higher) return "slower";
  return std::string(verdict_name(step_time));
}

}  // namespace

std::string Sides::no_steps() const {
  const auto first = [](const std::vector<ObservedRun>& runs, const char* side) {
    for (const ObservedRun& run : runs) {
      if (!run.steps) return std::string(side) + " has no steps: " + run.no_steps;
    }
    return std::string();
  };
  const std::string of_a = first(a, "A");
  return of_a.empty() ? first(b, "B") : of_a;
}

ComparedSpeed compare_speed(const Sides& sides, double same_within) {
  ComparedSpeed speed;
  speed.reason = sides.no_steps();
  if (!speed.reason.empty()) return speed;
  const std::vector<Observed> a = step_blocks(sides.a), b = step_blocks(sides.b);
  const TestedNumber tested = compare_number(a, b, same_within);
  const ComparedNumber& step_time = tested.number;
  speed.a_s = step_time.a;
  speed.b_s = step_time.b;
  speed.ratio = inverse(step_time.ratio);
  speed.reason = step_time.reason;
  if (!tested.effect) return speed;
  speed.low = inverse(step_time.high);
  speed.high = inverse(step_time.low);
  speed.p = step_time.p;
  speed.verdict = speed_verdict(decide(*tested.effect, same_within));
  speed.effective_a = tested.effect->effective_a;
  speed.effective_b = tested.effect->effective_b;
  speed.permutation_p = permutation_p(a, b);
  speed.repeats_needed = step_time.repeats_needed;
  if (step_time.blocks_needed) {
    speed.steps_needed = std::ceil(*step_time.blocks_needed *
                                   std::max(steps_per_block(sides.a), steps_per_block(sides.b)));
  }
  return speed;
}

}  // namespace trainscope
