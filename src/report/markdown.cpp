// A run as Markdown, for pull requests and issues.
#include <fmt/format.h>

#include "base/text.h"
#include "report/about.h"
#include "report/report.h"

namespace trainscope {

std::string markdown_escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    if (std::string_view("\\`*_[]<>|#").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

namespace {

std::string finding_markdown(const Finding& finding) {
  std::string text = fmt::format("- **{}**: {}", markdown_escaped(finding.severity),
                                 markdown_escaped(finding.summary));
  if (finding.max_speedup) {
    text += fmt::format("; at most {:.2f}× as fast without it", *finding.max_speedup);
  }
  if (!finding.advice.empty()) text += ". Try: " + markdown_escaped(finding.advice);
  return text + "\n";
}

}  // namespace

std::string markdown_report(const DiagnosedRun& diagnosed) {
  const Manifest& m = diagnosed.run->manifest();
  const Diagnosis& diagnosis = diagnosed.diagnosis;
  std::string out =
      fmt::format("**{}{}: {}**", markdown_escaped(diagnosis.verdict),
                  diagnosis.cause.empty() ? "" : " (" + markdown_escaped(diagnosis.cause) + ")",
                  markdown_escaped(diagnosis.sentence));
  if (diagnosis.confidence > 0) {
    out += fmt::format(" (confidence {:.0f} %)", 100 * diagnosis.confidence);
  }
  out += fmt::format("\n\nRun {}{}, {}", markdown_escaped(m.id),
                     m.name.empty() ? "" : " " + markdown_escaped(m.name),
                     shown_duration(*diagnosed.run));
  if (m.steps) out += ", " + counted(*m.steps, "step");
  out += "\n\n";
  if (!diagnosis.breakdown.empty()) {
    out += "| where the time went | share | time |\n|---|---:|---:|\n";
    for (const BreakdownPart& part : diagnosis.breakdown) {
      out += fmt::format("| {} | {:.1f} % | {} |\n", markdown_escaped(part.part), 100 * part.share,
                         duration_text(part.time_s));
    }
    out += "\n";
  }
  for (const Finding& finding : diagnosis.findings) out += finding_markdown(finding);
  for (const std::string& need : diagnosis.missing) {
    out += "- Missing: " + markdown_escaped(need) + "\n";
  }
  return out;
}

}  // namespace trainscope
