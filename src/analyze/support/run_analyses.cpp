#include "analyze/analyze.h"

namespace trainscope {

Result<std::vector<CompletedAnalysis>> run_analyses(const RunView& run) {
  std::vector<CompletedAnalysis> completed;
  for (const Analysis* analysis : analyses()) {
    TS_TRY(AnalysisResult result, analysis->analyze(run));
    completed.push_back({analysis, std::move(result)});
  }
  return completed;
}

}  // namespace trainscope
