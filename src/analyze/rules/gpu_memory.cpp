// gpu_memory: a GPU whose memory interface is busy while its tensor cores and fp32 units are not.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/support/rule.h"
#include "base/text.h"

namespace trainscope::gpu_memory_rule {

namespace {

Judgement judge(Witness& witness) {
  const Evidence& evidence = witness.evidence();
  Judgement judgement;
  if (!evidence.uses_gpu()) return judgement;
  const double memory = witness.degree(Signal::gpu_memory, 0.6, 0.75);
  judgement.strength = 0.93 * memory * witness.compute_units_idle();
  if (!(judgement.strength > 0)) return judgement;
  judgement.severity = "warning";
  judgement.finding.summary =
      fmt::format("the memory interface of the GPU is active {:.0f} % of the time",
                  100 * *witness.value(Signal::gpu_memory));
  judgement.finding.advice = witness.advice(Advice::less_gpu_memory_traffic);
  return judgement;
}

}  // namespace

extern const Rule entry;
const Rule entry = {
    .name = "gpu_memory",
    .verdict = "gpu_memory_bound",
    .summary = "the memory of the GPU limits it",
    .needs = "hw.gpu.dram_active",
    .judge = judge,
};

}  // namespace trainscope::gpu_memory_rule
