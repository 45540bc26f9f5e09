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
  double share = 0;     // of the training's time that it concerns: how severe it is
  // Of the training's time, what could be won at most, if that was measured.
  std::optional<double> lost = {};
  // More than `lost` may be won: only a part of what it costs was measured.
  bool is_lost_at_least = false;
  // The job reported the share: it is found even where something else limits the training.
  bool is_reported = false;
  // How many times as fast the judged time would be with the advice alone, at most; and by which
  // change, if it is only a part of the advice.
  std::optional<double> gain = {};
  std::string gain_by = {};
  std::string severity = {};  // "": by the share
  std::string missing = {};   // why it cannot be decided, and what would help; "": nothing special
  Finding finding = {};       // id, severity and times are filled in by the caller
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
  double whole_s = 0;  // of which this is a part
};
Finding finding_of(const Judged& judged, const JudgedTime& time);

// Is it worth a finding that this concerns so much of the time, though it is not the verdict?
bool is_noticeable(const Judgement& judgement);

// What was judged, for `--explain`.
Diagnosis::Judged explained(const Judged& judged);

}  // namespace trainscope
