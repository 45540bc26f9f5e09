// collectives: time in communication that no rank spends waiting for another.
//
// The rank that comes last to a collective waits for nobody: the least share of communication of
// any rank is what the exchange itself takes. What other ranks spend beyond it is waiting.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/analyze.h"
#include "analyze/support/judged.h"
#include "analyze/support/rank_comparison.h"
#include "base/text.h"

namespace trainscope::collectives_group_rule {

namespace {

Judgement judge(RankComparison& comparison) {
  Judgement judgement;
  const auto& ranks = comparison.ranks();
  if (ranks.size() < 2 || !comparison.knows_communication()) return judgement;
  double least = 1, most = 0;
  for (const RankComparison::Compared& each : ranks) {
    least = std::min(least, each.communication_share());
    most = std::max(most, each.communication_share());
  }
  judgement.strength =
      0.95 * comparison.share_degree("least communication of any rank, of its step time", least,
                                     0.08, 0.25);
  if (!(judgement.strength > 0)) return judgement;
  judgement.share = std::min(0.99, least);
  judgement.lost = judgement.share;
  judgement.finding.summary = fmt::format(
      "every rank spends at least {:.0f} % of the step time in communication", 100 * least);
  judgement.finding.evidence = {fmt::format(
      "communication takes {:.0f} to {:.0f} % of the step time, by rank", 100 * least, 100 * most)};
  judgement.finding.advice =
      "communicate less often or less (larger batches, gradient accumulation, bf16 gradients), "
      "overlap it with the backward pass, or use a faster interconnect";
  return judgement;
}

}  // namespace

extern const GroupRule entry;
const GroupRule entry = {
    .name = "collectives",
    .verdict = "communication_bound",
    .summary = "the exchange between the ranks takes much of the time",
    .needs = "communication phases of at least 2 ranks",
    .judge = judge,
};

}  // namespace trainscope::collectives_group_rule
