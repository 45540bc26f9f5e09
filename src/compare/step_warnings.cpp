// What makes a comparison of step times weak.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "compare/sides.h"

namespace trainscope {

namespace {

constexpr size_t kFewTimes = 20;  // of steps, in a run

}  // namespace

// A script that prints every hundredth step makes many steps, of which few times are known.
std::string warn_of_few_times(const Sides& sides, const Comparison& comparison) {
  if (comparison.speed.verdict != "cannot_tell" || comparison.is_between_runs) return "";
  size_t fewest = SIZE_MAX;
  for (const auto* runs : {&sides.a, &sides.b}) {
    for (const ObservedRun& run : *runs) {
      if (run.facts.is_instrumented || !run.steps) continue;
      fewest = std::min(fewest, run.steps->duration.blocks.means.size());
    }
  }
  if (fewest >= kFewTimes) return "";
  return fmt::format(
      "the times of only {} steps are known of a run; `trainscope run --instrument` notes every "
      "step of jobs in PyTorch or TensorFlow",
      fewest);
}

}  // namespace trainscope
