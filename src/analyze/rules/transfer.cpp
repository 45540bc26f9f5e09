// transfer: copies between host and GPU.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/support/reached_limits.h"
#include "analyze/support/rule.h"
#include "base/text.h"

namespace trainscope::transfer_rule {

namespace {

// A copy may wait for what the GPU computes, and nobody saw the GPU: no verdict, but what it takes
// to tell.
Judgement judge_unseen(Witness& witness, double share) {
  constexpr double kMuch = 0.3;
  Judgement judgement;
  const double reported = witness.share_degree("transfer of step time", share, 0.1, kMuch);
  judgement.strength = 0.9 * kLeastStrength * reported;
  judgement.share = share;
  if (share < kMuch) return judgement;
  judgement.missing = fmt::format(
      "what the GPU does while the job copies to it, which takes {:.0f} % of the step time: {}, "
      "see "
      "trainscope doctor",
      100 * share,
      witness.value(Signal::gpu_busy) ? "none that was recorded was seen to work for the job"
                                      : "its metrics were not recorded");
  return judgement;
}

// Copies beside the computing cost nothing already: only what the GPU does not compute meanwhile
// can be won, and a copy that is hidden is never shorter than the rest of the step.
void bound(Witness& witness, double share, Judgement& judgement) {
  judgement.lost = witness.device_bound(share);
  if (!judgement.lost) return;
  judgement.gain = Witness::gain_of_overlap(share, *judgement.lost);
  judgement.gain_by = "copying beside the computing alone";
}

Judgement judge(Witness& witness) {
  const Evidence& evidence = witness.evidence();
  Judgement judgement;
  const auto share = evidence.share("transfer");
  if (!evidence.uses_gpu()) return share ? judge_unseen(witness, *share) : judgement;
  const double reported =
      share ? witness.share_degree("transfer of step time", share, 0.1, 0.3) : 0;
  const double copied = witness.degree(Signal::gpu_copied, 2e9, 6e9);
  const double idle = witness.value(Signal::gpu_sm) ? witness.degree(Signal::gpu_sm, 0.5, 0.25)
                                                    : witness.degree(Signal::gpu_busy, 0.8, 0.5);
  judgement.strength = 0.9 * std::max(reported, copied) * (0.3 + 0.7 * idle);
  if (!(judgement.strength > 0)) return judgement;
  judgement.share = share.value_or(0);
  if (!share) judgement.severity = "warning";  // how long the copies took is not known
  const auto limit = copy_limit_text(evidence);
  judgement.finding.summary =
      share
          ? fmt::format("copying to the GPU takes {:.0f} % of the step time", 100 * *share)
          : fmt::format("{}/s {}are copied to the GPU",
                        bytes_text(*witness.value(Signal::gpu_copied)), limit ? *limit + " " : "");
  add_limit_evidence(evidence, "gpu.copy.", judgement.finding);
  judgement.finding.advice = witness.advice(Advice::copy_faster);
  if (share) bound(witness, *share, judgement);
  return judgement;
}

}  // namespace

extern const Rule entry;
const Rule entry = {
    .name = "transfer",
    .verdict = "transfer_bound",
    .summary = "copying to the GPU takes the time",
    .needs = "hw.gpu.pcie.io or phases",
    .judge = judge,
};

}  // namespace trainscope::transfer_rule
