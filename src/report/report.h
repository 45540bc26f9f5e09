// Reports and pictures: what people show to others of runs.
//
// Guarantees: a report is one file that refers to nothing outside of it and shows what diagnose and
// compare found: it computes no verdict. Text of a run never becomes markup or script. The same
// runs give the same bytes. Limits: of a long run it has windows of time with mean, minimum and
// maximum, not every sample.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "document/document.h"
#include "model/comparison.h"

namespace trainscope {

// ---- Pictures

struct PictureName {
  std::string_view name, help;
};
// "step_time", "loss", …
std::vector<PictureName> picture_names();

// One run of a report. `label`: how pictures and headings name it ("A"); "": there is only one.
struct ReportedRun {
  const DiagnosedRun* diagnosed = nullptr;
  std::string label;
};

// A, B, … if there are several.
std::vector<ReportedRun> label_runs(const std::vector<DiagnosedRun>& runs);

// An SVG picture of one run, or of several in one picture. An Error if there is nothing to draw,
// with the reason that the run has for it.
Result<std::string> draw_picture(std::string_view name, const std::vector<ReportedRun>& runs);

// ---- Reports

struct ReportContent {
  std::vector<DiagnosedRun> runs;       // in the order in which they were named
  std::vector<Comparison> comparisons;  // of the first side with each other one
};

// One HTML file.
Result<std::string> html_report(const ReportContent& content);
// For a pull request: headline, where the time went, findings.
std::string markdown_report(const DiagnosedRun& run);
// Text of runs that cannot become markup.
std::string markdown_escaped(std::string_view text);

}  // namespace trainscope
