// Analyses: one .cpp in this folder that defines one constant `<stem>_analysis`, a pure function
// from a RunView to an AnalysisResult. The build lists the folder and generates analyses(); the
// commands that show results, and the reference pages, read that table.
//
// Guarantees: the same run gives the same result; if a question cannot be decided, `unknown` states
// why, and nothing is guessed. Nothing is printed or written.
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "model/finding.h"
#include "model/model.h"

namespace trainscope {

struct Analysis {
  std::string_view name;     // "step_time"
  std::string_view summary;  // one line for the reference
  std::string_view needs;    // data that a run must have, as text
  Result<AnalysisResult> (*analyze)(const RunView& run) = nullptr;
};

// All analyses, sorted by name. Generated from the folder.
std::span<const Analysis* const> analyses();
// The one of this name, which must be there.
const Analysis& analysis_named(std::string_view name);

}  // namespace trainscope
