// communication: time in collectives, as the job reports it.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/support/rule.h"
#include "base/text.h"

namespace trainscope::communication_rule {

namespace {

Judgement judge(Witness& witness) {
  const Evidence& evidence = witness.evidence();
  Judgement judgement;
  judgement.strength = 0.95 * witness.communication();
  if (!(judgement.strength > 0)) return judgement;
  judgement.share = std::min(0.99, *evidence.share("communication"));
  judgement.strength *= witness.weight(judgement.share);
  judgement.lost = judgement.share;
  judgement.finding.summary =
      fmt::format("ranks wait for each other {:.0f} % of the step time", 100 * judgement.share);
  judgement.finding.advice = witness.advice(Advice::overlap_communication);
  return judgement;
}

}  // namespace

extern const Rule entry;
const Rule entry = {
    .name = "communication",
    .verdict = "communication_bound",
    .summary = "ranks wait for each other",
    .needs = "communication phases",
    .judge = judge,
};

}  // namespace trainscope::communication_rule
