// The results of all analyses as rows for people; `info` and the summary of a run show the same.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "analyze/analyze.h"

namespace trainscope {

// "input 62% · compute 38%"
std::string breakdown_text(const std::vector<BreakdownPart>& parts);

// Labels and texts. Findings of severity info are left to `info --json`.
std::vector<std::pair<std::string, std::string>> analysis_rows(
    const std::vector<CompletedAnalysis>& completed);

}  // namespace trainscope
