// Is training faster? Time per step of both sides, without warm-up, checkpoints and evaluations.
#include <fmt/format.h>

#include <cmath>

#include "compare/sides.h"

namespace trainscope {

namespace {

std::vector<Observed> step_blocks(const std::vector<ObservedRun>& runs) {
  std::vector<Observed> blocks;
  for (const ObservedRun& run : runs) blocks.push_back(run.steps->duration.blocks);
  return blocks;
}

// A ratio of step times is the inverse of that of speeds. That of an infinite one is 0, that of 0
// or of a number that is too small is unknown.
std::optional<double> inverse(double ratio) {
  const double inverted = 1 / ratio;
  return ratio > 0 && std::isfinite(inverted) ? std::optional(inverted) : std::nullopt;
}

// What would tell: if there is enough for a difference of `same_within`, what would find half of
// it.
void add_needed(const Sides& sides, const ComparedNumber& step_time, double same_within,
                ComparedSpeed& speed) {
  speed.needed_for = same_within > 0 ? same_within : kSameSpeed;
  ComparedNumber needs = step_time;
  if (speed.verdict == "cannot_tell" && !needs.values_needed && !needs.repeats_needed) {
    speed.needed_for /= 2;
    needs = compare_number(step_blocks(sides.a), step_blocks(sides.b), speed.needed_for).number;
  }
  speed.repeats_needed = needs.repeats_needed;
  speed.steps_needed = needs.values_needed;
}

// How many runs of a side have no steps; the first of them, and what it lacks.
struct WithoutSteps {
  size_t runs = 0;
  std::string id, what;
};

WithoutSteps without_steps(const std::vector<ObservedRun>& runs) {
  WithoutSteps found;
  for (const ObservedRun& run : runs) {
    if (run.steps || found.runs++ > 0) continue;
    found.id = run.run.id;
    found.what = run.no_steps;
  }
  return found;
}

// "A has no steps: REASON"; where other runs of the side have some, the run is named.
std::string without_steps_text(const WithoutSteps& found, size_t all, std::string_view side) {
  const std::string who =
      found.runs == all ? std::string(side) : fmt::format("run {} of {}", found.id, side);
  return fmt::format("{} has {}", who, found.what);
}

std::string speed_verdict(Difference step_time) {
  if (step_time == Difference::lower) return "faster";
  if (step_time == Difference::higher) return "slower";
  return std::string(verdict_name(step_time));
}

}  // namespace

std::string Sides::no_steps() const {
  const WithoutSteps of_a = without_steps(a), of_b = without_steps(b);
  const bool is_all = of_a.runs == a.size() && of_b.runs == b.size();
  if (is_all && of_a.what == of_b.what) return "A and B have " + of_a.what;
  if (of_a.runs > 0) return without_steps_text(of_a, a.size(), "A");
  return of_b.runs > 0 ? without_steps_text(of_b, b.size(), "B") : "";
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
  speed.ratio = inverse(step_time.ratio.value_or(0));
  speed.reason = step_time.reason;
  if (!speed.ratio) {
    speed.reason = std::string("the steps of ") + (step_time.ratio ? "B" : "A") + " took no time";
    return speed;
  }
  if (!tested.effect) return speed;
  speed.low = inverse(tested.effect->ratio_high);
  speed.high = inverse(tested.effect->ratio_low);
  speed.p = step_time.p;
  speed.verdict = speed_verdict(decide(*tested.effect, same_within));
  speed.effective_a = tested.effect->effective_a;
  speed.effective_b = tested.effect->effective_b;
  speed.permutation_p = permutation_p(a, b);
  add_needed(sides, step_time, same_within, speed);
  return speed;
}

}  // namespace trainscope
