// What limited the training when: spans of windows with the same verdict.
//
// The verdicts of the windows are the path with the largest sum of strengths, less a price for each
// change: a span must earn the changes at its ends, so short disturbances make none. Each span is
// then judged as a whole; it has a verdict only if that agrees.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "analyze/support/evidence.h"
#include "analyze/support/judged.h"

namespace trainscope {

struct JudgedSpan {
  size_t first_window = 0, count = 0;
  std::string_view verdict;  // "unknown": it is not clear
  double confidence = 0;
  std::vector<Judged> judged;  // strongest first
};

// In order of time, without gaps, neighbours with different verdicts. One span: nothing changed.
std::vector<JudgedSpan> judge_over_time(const Evidence& evidence);

// All rules about some evidence, strongest first.
std::vector<Judged> judge_all(const Evidence& evidence);
// The score of the verdict: its strength, less what the strongest other one takes from it.
double score_of(const std::vector<Judged>& judged);

}  // namespace trainscope
