#include "analyze/support/rank_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace trainscope {

namespace {

constexpr size_t kLeastForScore = 3;
constexpr double kNormal = 0.6745;  // of a normal distribution: median deviation over sigma
constexpr double kLeastDeviationS = 0.1e-3;  // ranks that are closer to each other are alike

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

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
  outlier_score_ = kNormal * (ranks_.front().own_s - median_s_) / deviation_s;
}

std::string RankComparison::name_of(const Compared& compared) {
  const RankDiagnosis& rank = *compared.rank;
  return fmt::format("rank {} (run {}{}{})", rank.rank, rank.run,
                     rank.host.empty() ? "" : ", host ", rank.host);
}

}  // namespace trainscope
