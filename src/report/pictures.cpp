// Pictures by name, of one run or of several in one picture.
#include <fmt/format.h>

#include <algorithm>

#include "report/charts.h"
#include "report/picture/picture.h"
#include "report/report.h"

namespace trainscope {

namespace {

constexpr std::string_view kBreakdown = "breakdown";
constexpr size_t kMostLines = 6;

std::string run_name(const DiagnosedRun& diagnosed) {
  const Manifest& m = diagnosed.run->manifest();
  return m.name.empty() ? m.id : m.name;
}

// "Step time: slow-input", or of several runs "Step time".
std::string picture_title(std::string_view title, const std::vector<ReportedRun>& runs) {
  if (runs.size() > 1) return std::string(title);
  return fmt::format("{}: {}", title, run_name(*runs.front().diagnosed));
}

// "A: job" of several runs.
std::string labelled(const ReportedRun& run, const std::string& name) {
  return run.label.empty() ? name : fmt::format("{}: {}", run.label, name);
}

Result<std::string> draw_breakdown(const std::vector<ReportedRun>& runs) {
  BarPicture picture{picture_title("Where the time went", runs), {}};
  for (const ReportedRun& run : runs) {
    const auto& parts = run.diagnosed->diagnosis.breakdown;
    if (parts.empty()) {
      return Error(fmt::format("run {} has nothing to draw for {}: where its time went is unknown",
                               run.diagnosed->run->manifest().id, kBreakdown));
    }
    picture.bars.push_back({labelled(run, runs.size() > 1 ? run_name(*run.diagnosed) : ""), parts});
  }
  return draw(picture);
}

Result<std::string> draw_chart(const Chart& chart, const std::vector<ReportedRun>& runs) {
  LinePicture picture;
  picture.title = picture_title(chart.title, runs);
  picture.y_name = chart.y_name;
  picture.unit = chart.unit;
  picture.from_zero = chart.from_zero;
  size_t left_out = 0;
  for (const ReportedRun& run : runs) {
    const RunView& view = *run.diagnosed->run;
    TS_TRY(ChartLines read, read_chart(view, chart, std::max<size_t>(1, kMostLines / runs.size())));
    for (PictureLine& line : read.lines) {
      line.name = labelled(run, line.name);
      line.style = picture.lines.size();
      picture.lines.push_back(std::move(line));
    }
    picture.end_s = std::max(picture.end_s, view.duration_s());
    left_out += read.left_out;
  }
  if (left_out > 0) {
    picture.note = fmt::format("{} of {} series: those with the largest means",
                               picture.lines.size(), picture.lines.size() + left_out);
  }
  return draw(picture);
}

}  // namespace

std::vector<PictureName> picture_names() {
  std::vector<PictureName> names;
  for (const Chart& chart : charts()) names.push_back({chart.name, chart.help});
  names.push_back({kBreakdown, "where the time went"});
  return names;
}

std::vector<ReportedRun> label_runs(const std::vector<DiagnosedRun>& runs) {
  std::vector<ReportedRun> labelled_runs;
  for (size_t i = 0; i < runs.size(); ++i) {
    const bool has_label = runs.size() > 1 && i < 26;
    const std::string label = has_label ? std::string(1, static_cast<char>('A' + i)) : "";
    labelled_runs.push_back({&runs[i], label});
  }
  return labelled_runs;
}

Result<std::string> draw_picture(std::string_view name, const std::vector<ReportedRun>& runs) {
  if (name == kBreakdown) return draw_breakdown(runs);
  const Chart* const chart = find_chart(name);
  if (chart == nullptr) return Error(fmt::format("unknown picture '{}'", name));
  return draw_chart(*chart, runs);
}

}  // namespace trainscope
