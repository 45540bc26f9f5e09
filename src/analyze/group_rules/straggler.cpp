// straggler: one rank, or a few, that need longer for their own work than all others.
//
// Two things must hold together: such a rank is an outlier (0.6745 x distance from the median over
// the median deviation above 3.5, of at least three ranks, as XProf has it), and the other ranks
// would gain at least a tenth of the step time if it were as fast as the next one that is none
// (TraceML warns from 10 % on). The ranks of a slow node are stragglers together.
#include <fmt/format.h>

#include "analyze/analyze.h"
#include "analyze/support/judged.h"
#include "analyze/support/rank_comparison.h"
#include "base/text.h"

namespace trainscope::straggler_group_rule {

namespace {

constexpr size_t kMostNamed = 4;

// The host of all these ranks, if others are elsewhere; "": they have none in common.
std::string common_host(const RankComparison& comparison, size_t count) {
  const auto& ranks = comparison.ranks();
  const std::string& host = ranks[0].rank->host;
  size_t there = 0;
  for (size_t i = 0; i < ranks.size(); ++i) {
    const bool is_there = ranks[i].rank->host == host;
    if (i < count && !is_there) return "";
    there += is_there ? 1 : 0;
  }
  return there < ranks.size() ? host : "";
}

// "ranks 3 and 7, on host n17", the slowest first.
std::string names_of(const RankComparison& comparison, size_t count) {
  const size_t named = count > kMostNamed ? kMostNamed - 1 : count;
  std::string names;
  for (size_t i = 0; i < named; ++i) {
    const char* const before = i == 0 ? "ranks " : i + 1 == count ? " and " : ", ";
    names += fmt::format("{}{}", before, comparison.ranks()[i].rank->rank);
  }
  if (named < count) names += fmt::format(" and {} more", count - named);
  const std::string host = common_host(comparison, count);
  return host.empty() ? names : fmt::format("{}, on host {},", names, host);
}

Judgement judge(RankComparison& comparison) {
  Judgement judgement;
  const auto [count, lost, strength] = comparison.find_stragglers();
  judgement.strength = strength;
  if (!(judgement.strength > 0)) return judgement;
  const RankComparison::Compared& slow = comparison.ranks()[0];
  judgement.share = lost;
  judgement.lost = judgement.share;
  judgement.finding.summary =
      fmt::format("rank {} needs {} per step for its own work, the median rank {}", slow.rank->rank,
                  duration_text(slow.own_s), duration_text(comparison.median_s()));
  judgement.finding.evidence = {RankComparison::evidence_of(slow)};
  judgement.finding.advice = fmt::format(
      "look at what this rank does differently: trainscope diagnose {}; its host, its GPU, its "
      "part of the data",
      slow.rank->run);
  if (count > 1) {
    judgement.finding.summary =
        fmt::format("{} need up to {} per step for their own work, the median rank {}",
                    names_of(comparison, count), duration_text(slow.own_s),
                    duration_text(comparison.median_s()));
  }
  return judgement;
}

}  // namespace

extern const GroupRule entry;
const GroupRule entry = {
    .name = "straggler",
    .verdict = "communication_bound",
    .summary = "one rank, or a few, hold up all others",
    .needs = "steps of at least 3 ranks; communication phases if they synchronise every step",
    .judge = judge,
};

}  // namespace trainscope::straggler_group_rule
