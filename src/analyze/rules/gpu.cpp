// gpu: a GPU that is busy all the time.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/support/rule.h"
#include "base/text.h"

namespace trainscope::gpu_rule {

namespace {

Judgement judge(Witness& witness) {
  const Evidence& evidence = witness.evidence();
  Judgement judgement;
  if (!evidence.uses_gpu()) return judgement;
  double busy = witness.degree(Signal::gpu_busy, 0.75, 0.95);
  // A device that still has work when the next step begins is slower than the program that feeds
  // it.
  if (const auto dry = evidence.reported().dry_share()) {
    const double queued =
        witness.share_degree("steps before which the GPU ran dry", dry, 0.4, 0.15);
    busy = std::max(busy, 0.9 * queued * witness.degree(Signal::gpu_busy, 0.5, 0.75));
  }
  judgement.strength = 0.93 * busy;
  if (witness.value(Signal::gpu_sm)) {
    judgement.strength *= 0.4 + 0.6 * witness.degree(Signal::gpu_sm, 0.3, 0.6);
  }
  if (witness.value(Signal::gpu_memory)) {
    judgement.strength *= witness.aside([&] {
      const double memory = witness.degree(Signal::gpu_memory, 0.6, 0.75);
      return 1 - 0.8 * memory * witness.compute_units_idle();
    });
  }
  if (!(judgement.strength > 0)) return judgement;
  judgement.finding.summary =
      fmt::format("the GPU is busy {:.0f} % of the time", 100 * *witness.value(Signal::gpu_busy));
  return judgement;
}

}  // namespace

extern const Rule entry;
const Rule entry = {
    .name = "gpu",
    .verdict = "gpu_bound",
    .summary = "the GPU computes all the time",
    .needs = "hw.gpu.utilization",
    .judge = judge,
};

}  // namespace trainscope::gpu_rule
