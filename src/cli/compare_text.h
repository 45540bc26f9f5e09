// A comparison for people: for a terminal, and as Markdown for a pull request.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "model/comparison.h"

namespace trainscope {

struct CompareStyle {
  bool all = false;      // metrics that do not differ too
  bool explain = false;  // hypotheses, tests and p-values
  bool colour = false;
  size_t width = 80;
};

// The two answers first, then why, what makes it unfair, and the metrics that differ.
std::string comparison_text(const Comparison& comparison, const CompareStyle& style);
std::string comparison_markdown(const Comparison& comparison, const CompareStyle& style);

// "1.30 [1.28, 1.32]"; "" without a ratio.
std::string ratio_cell(const ComparedNumber& number);
// The same of a metric; of one that has no ratio, a temperature, the difference.
std::string effect_cell(const ComparedMetric& metric);
// "<0.001", "0.42"; "" if it was not tested.
std::string p_cell(const ComparedNumber& number);
// "system.cpu.utilization{cpu=all}"
std::string metric_text(const ComparedMetric& metric);
bool differs(const ComparedMetric& metric);
// "6a3efywy0f baseline, 895 steps in 5.4 s"
std::string side_text(const ComparedSide& side);
// "cpu_bound (single_thread)", of several runs each once.
std::string side_verdict(const ComparedSide& side);
// "0.95 (validation) after 8 min → 5 min, 0.62 [0.55, 0.71]": the highest accuracy that all runs
// reached, of each set, and the time to it.
std::vector<std::string> accuracy_texts(const Comparison& comparison);
// "GPU: 166 J → 15.9 J per step, 0.10 [0.09, 0.10]", of a comparison that has an energy.
std::string energy_text(const Comparison& comparison);
// "0.1 → 0.04 EUR per 1,000 steps, 0.40 [0.36, 0.44]", of one that has a cost.
std::string cost_text(const Comparison& comparison);

}  // namespace trainscope
