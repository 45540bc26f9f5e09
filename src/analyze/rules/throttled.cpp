// throttled: a GPU that runs slower than it could because of heat or its power limit.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/support/rule.h"
#include "base/text.h"

namespace trainscope::throttled_rule {

namespace {

Judgement judge(Witness& witness) {
  const Evidence& evidence = witness.evidence();
  Judgement judgement;
  if (!evidence.uses_gpu()) return judgement;
  const double busy = witness.degree(Signal::gpu_busy, 0.5, 0.8);
  const double heat = witness.degree(Signal::gpu_throttled_heat, 0.1, 0.3);
  const double power = witness.degree(Signal::gpu_throttled_power, 0.5, 0.9);
  judgement.strength = busy * std::max(0.95 * heat, 0.4 * power);
  if (!(judgement.strength > 0)) return judgement;
  const bool is_heat = 0.95 * heat >= 0.4 * power;
  judgement.cause = is_heat ? "thermal" : "power";
  // How much slower it was meanwhile is not known.
  judgement.share =
      *witness.value(is_heat ? Signal::gpu_throttled_heat : Signal::gpu_throttled_power);
  judgement.finding.summary =
      fmt::format("{} slows the GPU down {:.0f} % of the time",
                  is_heat ? "heat" : "its power limit", 100 * judgement.share);
  judgement.finding.advice =
      is_heat ? "improve the cooling" : "raise the power limit (nvidia-smi -pl)";
  return judgement;
}

}  // namespace

extern const Rule entry;
const Rule entry = {
    .name = "throttled",
    .verdict = "throttled",
    .summary = "heat or the power limit slows the GPU down",
    .needs = "hw.gpu.throttle.time",
    .judge = judge,
};

}  // namespace trainscope::throttled_rule
