// imbalance: ranks whose own work differs, so that most of them wait for the slowest.
//
// The step could be shorter by the lead of the slowest rank over the mean if all had the same work.
// Stragglers are left to their own rule where it holds.
#include <fmt/format.h>

#include "analyze/analyze.h"
#include "analyze/support/judged.h"
#include "analyze/support/rank_comparison.h"
#include "base/text.h"

namespace trainscope::imbalance_group_rule {

namespace {

Judgement judge(RankComparison& comparison) {
  Judgement judgement;
  const auto& ranks = comparison.ranks();
  if (ranks.size() < 2 || !(comparison.step_s() > 0)) return judgement;
  const RankComparison::Compared& slow = ranks.front();
  const RankComparison::Compared& fast = ranks.back();
  const double lost = (slow.own_s - comparison.mean_s()) / comparison.step_s();
  judgement.strength =
      0.9 * comparison.share_degree("lead of the slowest rank over the mean, of the step time",
                                    lost, 0.05, 0.15);
  if (comparison.find_stragglers().strength >= kLeastStrength) judgement.strength = 0;
  if (!comparison.knows_communication()) judgement.strength *= 0.8;
  if (!(judgement.strength > 0)) return judgement;
  judgement.share = lost;
  judgement.lost = judgement.share;
  judgement.finding.summary = fmt::format(
      "ranks do not have the same work: per step rank {} needs {}, rank {} only {}",
      slow.rank->rank, duration_text(slow.own_s), fast.rank->rank, duration_text(fast.own_s));
  judgement.finding.evidence = {RankComparison::evidence_of(slow)};
  judgement.finding.advice =
      "divide the work evenly: samples of similar length per rank, equal stages, the same hardware";
  return judgement;
}

}  // namespace

extern const GroupRule entry;
const GroupRule entry = {
    .name = "imbalance",
    .verdict = "communication_bound",
    .summary = "ranks wait for those that have more to do",
    .needs = "steps of at least 2 ranks; communication phases if they synchronise every step",
    .judge = judge,
};

}  // namespace trainscope::imbalance_group_rule
