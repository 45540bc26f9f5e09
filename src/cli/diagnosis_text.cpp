#include "cli/diagnosis_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "analyze/analyze.h"
#include "base/text.h"
#include "cli/analysis_text.h"
#include "cli/table.h"
#include "document/document.h"
#include "model/limits.h"

namespace trainscope {

namespace {

std::string findings_text(const Diagnosis& diagnosis) {
  std::string out;
  for (const Finding& finding : diagnosis.findings) {
    out += fmt::format("\n{}: {}\n", finding.severity, finding.summary);
    for (const std::string& line : finding.evidence) out += fmt::format("  seen      {}\n", line);
    if (finding.max_speedup) {
      out += fmt::format("  bound     at most {:.2f} times as fast without it ({} lost)\n",
                         *finding.max_speedup, duration_text(finding.time_lost_s.value_or(0)));
    }
    if (!finding.advice.empty()) out += fmt::format("  try       {}\n", finding.advice);
  }
  return out;
}

std::string explanation_text(const Diagnosis& diagnosis) {
  std::string out = "\nrules\n";
  for (const auto& judged : diagnosis.judged) {
    out += fmt::format("  {:<14} {:<20} {:.2f}\n", judged.rule, judged.verdict, judged.strength);
    if (judged.seen.empty()) {
      out += fmt::format("    does not apply here; needs {}\n", needs_of_rule(judged.rule));
    }
    for (const Diagnosis::Seen& seen : judged.seen) {
      out +=
          fmt::format("    {:<44} {:>10}  {} to {}: {:.2f}\n", seen.what,
                      seen.value ? seen_text(*seen.value, seen.unit) : "unknown",
                      seen_text(seen.low, seen.unit), seen_text(seen.high, seen.unit), seen.degree);
    }
  }
  return out;
}

// What is found without a rule, also where it is not.
std::string other_findings_text(const Diagnosis& diagnosis) {
  std::string out = "\nothers\n";
  for (const OtherFinding& other : other_findings()) {
    out += fmt::format("  {:<22}  {:<9}  {}\n", other.id,
                       has_found(diagnosis, other) ? "found" : "not found", other.summary);
  }
  return out;
}

std::string reached_text(const std::vector<ReachedLimit>& limits) {
  std::string out;
  for (const ReachedLimit& one : limits) {
    out += fmt::format("  {:<9} {}: {} of {}\n", out.empty() ? "limits" : "", printable(one.name),
                       limit_text(one.reached, one.unit), limit_text(one.limit, one.unit));
  }
  return out;
}

// Without those that are 0 % when rounded.
std::vector<BreakdownPart> shown_parts(std::vector<BreakdownPart> parts) {
  std::erase_if(parts, [](const BreakdownPart& part) { return part.share < 0.005; });
  return parts;
}

// Another verdict than that of the run holds for a while.
bool says_more(const Diagnosis& diagnosis) {
  const auto& spans = diagnosis.over_time;
  return std::any_of(spans.begin(), spans.end(), [&](const Diagnosis::Span& span) {
    return span.verdict != diagnosis.verdict && span.verdict != "unknown";
  });
}

// "input_bound until 40.0 s, then cpu_bound"
std::string over_time_text(const std::vector<Diagnosis::Span>& spans) {
  std::string text;
  for (const Diagnosis::Span& span : spans) {
    const bool is_last = &span == &spans.back();
    text += (text.empty() ? "" : ", then ") + span.verdict;
    if (!is_last) text += " until " + duration_text(span.to_s);
  }
  return text;
}

}  // namespace

std::string answer_text(const Diagnosis& diagnosis) { return diagnosis_headline(diagnosis); }

std::string diagnosis_text(const std::string& title, const Diagnosis& diagnosis,
                           const std::string& own_lines, bool explain) {
  std::string out = title + "\n";
  out += "  verdict   " + answer_text(diagnosis) + "\n";
  const std::string parts = breakdown_text(shown_parts(diagnosis.breakdown));
  if (!parts.empty()) out += "  time      " + parts + "\n";
  if (says_more(diagnosis)) {
    out += "  when      " + over_time_text(diagnosis.over_time) + "\n";
  }
  for (const std::string& need : diagnosis.missing) out += "  missing   " + need + "\n";
  std::string others;
  for (const auto& other : diagnosis.alternatives) {
    others += fmt::format("{}{} ({:.0f} %)", others.empty() ? "" : ", ", other.verdict,
                          100 * other.confidence);
  }
  if (!others.empty()) out += "  or        " + others + "\n";
  out += reached_text(diagnosis.limits) + own_lines + findings_text(diagnosis);
  return explain ? out + explanation_text(diagnosis) + other_findings_text(diagnosis) : out;
}

}  // namespace trainscope
