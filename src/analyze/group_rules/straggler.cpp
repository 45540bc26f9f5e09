// straggler: one rank that needs longer for its own work than all others.
//
// Two things must hold together: the rank is an outlier (0.6745 x distance from the median over the
// median deviation above 3.5, of at least three ranks, as XProf has it), and the other ranks would
// gain at least a tenth of the step time if it were as fast as the next one (TraceML warns from
// 10 % on).
#include <fmt/format.h>

#include "analyze/analyze.h"
#include "analyze/support/judged.h"
#include "analyze/support/rank_comparison.h"
#include "base/text.h"

namespace trainscope {

namespace {

Judgement judge(RankComparison& comparison) {
  Judgement judgement;
  const auto& ranks = comparison.ranks();
  if (ranks.size() < 3 || !(comparison.step_s() > 0)) return judgement;
  const RankComparison::Compared& slow = ranks[0];
  const double lost = (slow.own_s - ranks[1].own_s) / comparison.step_s();
  const double is_outlier = comparison.degree("distance of the slowest rank from the median",
                                              comparison.outlier_score(), 3, kStragglerScore + 0.5);
  const double is_costly =
      comparison.degree("its lead over the next one, of the step time", lost, 0.05, 0.15);
  judgement.strength = 0.95 * is_outlier * is_costly;
  // Whether the others wait for it is not known then.
  if (!comparison.knows_communication()) judgement.strength *= 0.8;
  if (!(judgement.strength > 0)) return judgement;
  judgement.share = lost;
  judgement.lost = judgement.share;
  judgement.finding.summary =
      fmt::format("rank {} needs {} per step for its own work, the median rank {}", slow.rank->rank,
                  duration_text(slow.own_s), duration_text(comparison.median_s()));
  judgement.finding.evidence = {
      fmt::format("{}: {}", RankComparison::name_of(slow), slow.rank->diagnosis.sentence)};
  judgement.finding.advice = fmt::format(
      "look at what this rank does differently: trainscope diagnose {}; its host, its GPU, its "
      "part "
      "of the data",
      slow.rank->run);
  return judgement;
}

}  // namespace

extern const GroupRule straggler_group_rule;
const GroupRule straggler_group_rule = {
    .name = "straggler",
    .verdict = "communication_bound",
    .summary = "one rank holds up all others",
    .needs = "steps of at least 3 ranks; communication phases if they synchronise every step",
    .judge = judge,
};

}  // namespace trainscope
