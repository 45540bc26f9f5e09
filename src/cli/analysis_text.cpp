#include "cli/analysis_text.h"

#include <fmt/format.h>

#include <map>

#include "base/text.h"

namespace trainscope {

namespace {

constexpr size_t kRowColumns = 80 - 13;  // without the label

// What is unknown has its own row unless the breakdown is short.
void add_breakdown(const Analysis& analysis, const AnalysisResult& result,
                   std::vector<std::pair<std::string, std::string>>& rows) {
  const std::string parts = breakdown_text(result.breakdown);
  const std::string both =
      parts + (parts.empty() || result.unknown.empty() ? "" : ": ") + result.unknown;
  const bool fits = display_width(both) <= kRowColumns;
  rows.emplace_back(analysis.title, fits ? both : parts);
  if (!fits) rows.emplace_back("", result.unknown);
}

// "7 input (3.5 s), 2 checkpoint (0.4 s)"
std::string pauses_text(const AnalysisResult& result) {
  std::map<std::string, std::pair<int, double>> kinds;
  for (const Pause& pause : result.pauses) {
    auto& [count, lost_s] = kinds[pause.kind];
    ++count;
    lost_s += pause.lost_s;
  }
  std::string text;
  for (const auto& [kind, sum] : kinds) {
    text += fmt::format("{}{} {} ({})", text.empty() ? "" : ", ", sum.first, kind,
                        duration_text(sum.second));
  }
  return text;
}

std::string finding_text(const Finding& finding) {
  return finding.summary + (finding.advice.empty() ? "" : "; " + finding.advice);
}

}  // namespace

std::string breakdown_text(const std::vector<BreakdownPart>& parts) {
  std::string text;
  for (const BreakdownPart& part : parts) {
    text += fmt::format("{}{} {:.0f}%", text.empty() ? "" : " · ", part.part, 100 * part.share);
  }
  return text;
}

std::vector<std::pair<std::string, std::string>> analysis_rows(
    const std::vector<CompletedAnalysis>& completed) {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const auto& [analysis, result] : completed) {
    if (!result.is_applicable) continue;
    add_breakdown(*analysis, result, rows);
    rows.emplace_back("pauses", pauses_text(result));
    for (const Finding& finding : result.findings) {
      if (finding.severity != "info") rows.emplace_back(finding.severity, finding_text(finding));
    }
  }
  std::erase_if(rows, [](const auto& row) { return row.second.empty(); });
  return rows;
}

}  // namespace trainscope
