#include "report/static_page.h"

#include <fmt/format.h>

#include <array>

#include "base/text.h"
#include "report/about.h"
#include "report/picture/markup.h"

namespace trainscope {

namespace {

// The first of each row that can be drawn.
constexpr std::array<std::array<std::string_view, 2>, 3> kShownPictures = {
    {{"breakdown", ""}, {"step_time", "processor"}, {"loss", ""}}};

std::string name_of(const DiagnosedRun& diagnosed) {
  const Manifest& m = diagnosed.run->manifest();
  return m.name.empty() ? m.id : m.name;
}

// "input-bound": as people write the verdict.
std::string verdict_word(std::string verdict) {
  for (char& c : verdict) {
    if (c == '_') c = '-';
  }
  return verdict;
}

std::string verdict_html(const Diagnosis& diagnosis) {
  std::string text = fmt::format("<strong>{}</strong>", escaped(verdict_word(diagnosis.verdict)));
  if (!diagnosis.cause.empty()) text += " (" + escaped(verdict_word(diagnosis.cause)) + ")";
  text += ": " + escaped(diagnosis.sentence);
  if (diagnosis.confidence > 0) {
    text += fmt::format(" <span class=\"muted\">confidence {:.0f} %</span>",
                        100 * diagnosis.confidence);
  }
  return "<p>" + text + "</p>\n";
}

std::string breakdown_html(const std::vector<BreakdownPart>& parts) {
  if (parts.empty()) return "";
  std::string rows;
  for (const BreakdownPart& part : parts) {
    rows += fmt::format("<tr><th scope=\"row\">{}</th><td>{:.1f} %</td><td>{}</td></tr>\n",
                        escaped(part.part), 100 * part.share, escaped(duration_text(part.time_s)));
  }
  return "<table class=\"table\">\n<caption>Where the time went</caption>\n<thead><tr><th "
         "scope=\"col\">part</th><th scope=\"col\">share</th><th "
         "scope=\"col\">time</th></tr></thead>"
         "\n<tbody>\n" +
         rows + "</tbody>\n</table>\n";
}

std::string finding_html(const Finding& finding) {
  std::string text = fmt::format("<li><strong>{}</strong>: {}", escaped(finding.severity),
                                 escaped(finding.summary));
  for (const std::string& line : finding.evidence) {
    text += fmt::format("<br><span class=\"muted\">seen: {}</span>", escaped(line));
  }
  if (finding.max_speedup) {
    text += fmt::format("<br>at most {:.2f}× as fast without it", *finding.max_speedup);
  }
  if (!finding.advice.empty()) text += "<br>try: " + escaped(finding.advice);
  return text + "</li>\n";
}

std::string diagnosis_html(const DiagnosedRun& diagnosed, size_t heading) {
  const Diagnosis& diagnosis = diagnosed.diagnosis;
  const Manifest& m = diagnosed.run->manifest();
  std::string out = fmt::format(
      "<section class=\"card\">\n<h{0}>{1} <span class=\"muted\">run {2}, {3}, {4}</span></h{0}>\n",
      heading, escaped(name_of(diagnosed)), escaped(m.id), escaped(m.started),
      escaped(shown_duration(*diagnosed.run)));
  out += verdict_html(diagnosis);
  for (const std::string& need : diagnosis.missing) {
    out += "<p class=\"muted\">missing: " + escaped(need) + "</p>\n";
  }
  out += breakdown_html(diagnosis.breakdown);
  if (!diagnosis.findings.empty()) out += "<ul>\n";
  for (const Finding& finding : diagnosis.findings) out += finding_html(finding);
  if (!diagnosis.findings.empty()) out += "</ul>\n";
  return out + "</section>\n";
}

std::string comparison_html(const Comparison& comparison) {
  std::string out = "<section class=\"card\">\n<p><strong>" + escaped(comparison.speed.sentence) +
                    "</strong></p>\n<p>" + escaped(comparison.behaviour.sentence) + "</p>\n";
  if (!comparison.why.empty()) out += "<p>" + escaped(comparison.why) + "</p>\n";
  if (!comparison.warnings.empty()) out += "<ul>\n";
  for (const ComparisonWarning& warning : comparison.warnings) {
    out += "<li>Warning: " + escaped(warning.summary) + "</li>\n";
  }
  if (!comparison.warnings.empty()) out += "</ul>\n";
  return out + "</section>\n";
}

std::string pictures_html(const ReportContent& content) {
  const std::vector<ReportedRun> runs = label_runs(content.runs);
  std::string out;
  for (const auto& choices : kShownPictures) {
    for (const std::string_view name : choices) {
      if (name.empty()) continue;
      const auto picture = draw_picture(name, runs);
      if (!picture) continue;
      out += "<figure>\n" + *picture + "</figure>\n";
      break;
    }
  }
  return out;
}

std::string table_html(const char* caption, const NamedTexts& rows) {
  std::string out =
      fmt::format("<table class=\"table\">\n<caption>{}</caption>\n<tbody>\n", caption);
  for (const auto& [name, value] : rows) {
    out += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", escaped(name),
                       escaped(value));
  }
  return out + "</tbody>\n</table>\n";
}

// Lines stay lines: they are to be copied.
std::string escaped_lines(const std::string& text) {
  std::string out;
  for (const std::string_view line : split(text, '\n')) {
    out += (out.empty() ? "" : "\n") + escaped(line);
  }
  return out;
}

}  // namespace

std::string report_title(const ReportContent& content) {
  std::string title;
  for (const DiagnosedRun& run : content.runs) {
    title += (title.empty() ? "" : ", ") + name_of(run);
  }
  return title + " – Trainscope report";
}

std::string static_page(const ReportContent& content) {
  std::string out = "<h1>" + escaped(report_title(content)) + "</h1>\n";
  for (const Comparison& comparison : content.comparisons) out += comparison_html(comparison);
  for (const DiagnosedRun& run : content.runs) out += diagnosis_html(run, 2);
  out += pictures_html(content);
  out += table_html("Environment", environment_of(content.runs));
  out += table_html("How it was measured", method_of(content.runs, !content.comparisons.empty()));
  return out + "<p>To record it again:</p>\n<pre>" + escaped_lines(reproduction_of(content.runs)) +
         "</pre>\n";
}

}  // namespace trainscope
