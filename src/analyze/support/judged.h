// A rule with what it decided and saw, and the finding that it becomes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/finding.h"

namespace trainscope {

struct Judgement {
  double strength = 0;  // from 0 to 1
  std::string cause;    // "": unknown
  double share = 0;     // of the training's time that it takes; a bound for what can be won
  Finding finding;      // id, severity and times are filled in by the caller
};

struct Judged {
  std::string_view name, verdict;  // of the rule
  Judgement judgement;
  std::vector<Diagnosis::Seen> seen;
};

// A verdict needs this much; below it the answer is "unknown".
inline constexpr double kLeastStrength = 0.5;

void sort_by_strength(std::vector<Judged>& judged);

// The time that was judged; without a begin, it is not that of one run.
struct JudgedTime {
  std::optional<double> from_s, to_s;
  double length_s = 0;
};
Finding finding_of(const Judged& judged, const JudgedTime& time);

// What was judged, for `--explain`.
Diagnosis::Judged explained(const Judged& judged);

}  // namespace trainscope
