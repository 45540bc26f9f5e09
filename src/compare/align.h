// Which part of a run is compared.
//
// The rule: the warm-up is left out. With steps, a run is compared from the end of its warm-up (or
// the begin of its first step) to the end of its last step; warm-up steps are the first ones, at
// most ten, that took more than twice the median without waiting for data (training/), or the first
// one alone if it waited for data longer than usual, by more than a step takes. A run without steps
// is compared from begin to end: what of it is warm-up is unknown.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "compare/compare.h"
#include "model/model.h"

namespace trainscope {

struct RunPart {
  double begin_s = 0, end_s = 0;
  double steps = 0;  // 0: none were reported
  double warmup_steps = 0;
  bool is_first_left_out = false;  // the first step of known time, because of its wait for data
};

// The longest part that one run allows.
RunPart whole_part(const RunView& run);

// What no part may exceed; empty: no limit.
struct PartLimits {
  std::optional<double> length_s, steps;
};
// Of all runs of both sides. An Error if a run has nothing to align by.
Result<PartLimits> common_limits(std::span<const RunPart> parts, Align align);

// The rule in words.
std::string part_rule_text(Align align, bool has_steps, const PartLimits& limits);

}  // namespace trainscope
