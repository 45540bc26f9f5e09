#include "analyze/support/rank_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/statistics.h"
#include "base/text.h"

namespace trainscope {

namespace {

constexpr size_t kLeastForScore = 3;
constexpr double kNormal = 0.6745;  // of a normal distribution: median deviation over sigma
constexpr double kLeastDeviationS = 0.1e-3;  // ranks that are closer to each other are alike
// Of the step time: a rank that is closer to the median costs nothing, however even others are.
constexpr double kLeastCost = 0.05;

}  // namespace

RankComparison::RankComparison(const std::vector<RankDiagnosis>& ranks) {
  for (const RankDiagnosis& rank : ranks) {
    if (rank.step_s) ranks_.push_back({&rank, *rank.step_s, *rank.step_s});
  }
  if (ranks_.empty()) return;
  knows_communication_ = std::all_of(ranks_.begin(), ranks_.end(), [](const Compared& each) {
    return each.rank->communication_s.has_value();
  });
  std::vector<double> own;
  for (Compared& each : ranks_) {
    if (knows_communication_) each.own_s = std::max(0.0, each.step_s - *each.rank->communication_s);
    step_s_ = std::max(step_s_, each.step_s);
    mean_s_ += each.own_s / static_cast<double>(ranks_.size());
    own.push_back(each.own_s);
  }
  median_s_ = median_of(own);
  std::stable_sort(ranks_.begin(), ranks_.end(),
                   [](const Compared& a, const Compared& b) { return a.own_s > b.own_s; });
  if (ranks_.size() < kLeastForScore) return;
  for (double& value : own) value = std::abs(value - median_s_);
  const double deviation_s = std::max(median_of(own), kLeastDeviationS);
  for (Compared& each : ranks_) each.score = kNormal * (each.own_s - median_s_) / deviation_s;
}

Stragglers RankComparison::find_stragglers() {
  Stragglers found;
  if (ranks_.size() < kLeastForScore || !(step_s_ > 0)) return found;
  const double is_outlier = degree("distance of the slowest rank from the median",
                                   ranks_.front().score, 3, kStragglerScore + 0.5);
  const auto is_none = [&](const Compared& each) {
    const bool is_slow = each.own_s - median_s_ > kLeastCost * step_s_;
    return !(is_slow && each.score > kStragglerScore);
  };
  const auto next = std::find_if(ranks_.begin() + 1, ranks_.end(), is_none);
  found.count = static_cast<size_t>(next - ranks_.begin());
  found.lost = (ranks_.front().own_s - next->own_s) / step_s_;
  const double is_costly =
      share_degree("its lead over the next one that is no straggler, of the step time", found.lost,
                   kLeastCost, 0.15);
  found.strength = 0.95 * is_outlier * is_costly;
  // Whether the others wait for it is not known then.
  if (!knows_communication_) found.strength *= 0.8;
  return found;
}

std::string RankComparison::evidence_of(const Compared& compared) {
  const RankDiagnosis& rank = *compared.rank;
  const bool is_known = rank.diagnosis.verdict != "unknown";
  return fmt::format("rank {} (run {}{}{}): {} per step{}", rank.rank, rank.run,
                     rank.host.empty() ? "" : ", host ", rank.host, duration_text(compared.own_s),
                     is_known ? "; " + rank.diagnosis.sentence : "");
}

}  // namespace trainscope
