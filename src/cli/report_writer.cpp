#include "cli/report_writer.h"

#include <set>

#include "cli/reading.h"
#include "compare/compare.h"

namespace trainscope {

Result<ReportContent> read_report(const std::vector<std::vector<std::string>>& sides) {
  ReportContent content;
  std::set<std::string> known;
  for (const auto& side : sides) {
    for (const std::string& path : side) {
      TS_TRY(DiagnosedRun diagnosed, diagnose_stored_run(path));
      if (!known.insert(diagnosed.run->manifest().id).second) continue;
      content.runs.push_back(std::move(diagnosed));
    }
  }
  for (size_t i = 1; i < sides.size(); ++i) {
    TS_TRY(Comparison comparison, compare_runs(sides[0], sides[i], {}, open_found_run));
    content.comparisons.push_back(std::move(comparison));
  }
  return content;
}

}  // namespace trainscope
