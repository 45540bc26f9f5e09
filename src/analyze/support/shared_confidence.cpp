#include "analyze/support/shared_confidence.h"

#include <algorithm>
#include <string>

#include "analyze/support/confidence.h"

namespace trainscope {

namespace {

// An alternative is worth a word from this strength on.
constexpr double kWorthMentioning = 0.2;

}  // namespace

SharedConfidence::SharedConfidence(const std::vector<Judged>& judged, bool is_clear,
                                   double confidence) {
  for (const Judged& one : judged) {
    const double strength = one.judgement.strength;
    const bool is_known = verdicts_.contains(one.verdict);
    if (is_known || !(strength > 0)) continue;
    const bool is_verdict = is_clear && verdicts_.empty();
    verdicts_[one.verdict] = {strength, is_verdict ? confidence : 0};
    if (is_verdict || strength < kWorthMentioning) continue;
    alternatives_.push_back({std::string(one.verdict), confidence_of(strength)});
  }
  // What is surer than even would be the verdict.
  const double most = is_clear ? confidence : kLeastStrength;
  scale_down(alternatives_, most, is_clear ? 1 - confidence : 1);
  for (const Diagnosis::Alternative& other : alternatives_) {
    const auto found = verdicts_.find(std::string_view(other.verdict));
    if (found != verdicts_.end()) found->second.confidence = other.confidence;
  }
}

double SharedConfidence::of(const Judged& judged) const {
  const auto found = verdicts_.find(judged.verdict);
  if (found == verdicts_.end() || !(found->second.strength > 0)) return 0;
  return found->second.confidence * judged.judgement.strength / found->second.strength;
}

void scale_down(std::vector<Diagnosis::Alternative>& alternatives, double most, double sum) {
  double all = 0;
  for (Diagnosis::Alternative& other : alternatives) {
    other.confidence = std::min(other.confidence, most);
    all += other.confidence;
  }
  if (!(all > sum)) return;
  for (Diagnosis::Alternative& other : alternatives) {
    other.confidence *= std::max(0.0, sum) / all;
  }
}

}  // namespace trainscope
