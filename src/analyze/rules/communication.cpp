// communication: time in collectives, as the job reports it.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/support/rule.h"
#include "base/text.h"

namespace trainscope {

namespace {

Judgement judge(Witness& witness) {
  const Evidence& evidence = witness.evidence();
  Judgement judgement;
  const auto share = evidence.share("communication");
  if (!share) return judgement;
  judgement.strength = 0.95 * witness.degree("communication of step time", share, 0.08, 0.25);
  if (!(judgement.strength > 0)) return judgement;
  judgement.share = *share;
  judgement.finding.summary =
      fmt::format("ranks wait for each other {:.0f} % of the step time", 100 * *share);
  judgement.finding.advice = "compare the ranks: a slow one holds up all; overlap communication";
  return judgement;
}

}  // namespace

extern const Rule communication_rule;
const Rule communication_rule = {
    .name = "communication",
    .verdict = "communication_bound",
    .summary = "ranks wait for each other",
    .needs = "phases",
    .judge = judge,
};

}  // namespace trainscope
