#include "report/data.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/fd.h"
#include "base/json.h"
#include "report/about.h"
#include "report/pack.h"

namespace trainscope {

namespace {

constexpr size_t kReportLines = 1000;
constexpr size_t kMostFactor = 16;  // by which windows are widened until the series fit
constexpr size_t kReportSteps = 1500;
constexpr size_t kReportImageBytes = size_t{1} << 20;  // of a run

// Series that are not absent: main metrics and those of the training first if there are too many,
// in their order.
std::vector<size_t> embedded_series(const RunView& run) {
  std::vector<size_t> places;
  const std::vector<Series>& all = run.series();
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].status != SeriesStatus::absent) places.push_back(i);
  }
  if (places.size() <= kMostReportSeries) return places;
  const auto is_main = [&](size_t i) {
    // Of machines with many processors, the series of each of them are what is too much.
    const bool is_of_one_cpu = std::any_of(
        all[i].labels.begin(), all[i].labels.end(),
        [](const auto& label) { return label.first == "cpu" && label.second != "all"; });
    return !is_of_one_cpu;
  };
  std::stable_partition(places.begin(), places.end(), is_main);
  places.resize(kMostReportSeries);
  std::sort(places.begin(), places.end());
  return places;
}

// A width whose multiples have few digits in binary: they compress well.
double window_width(double duration_s, size_t windows) {
  const double least = duration_s / static_cast<double>(windows);
  const double unit = std::exp2(std::floor(std::log2(std::max(least, 1e-6))) - 4);
  return std::ceil(least / unit) * unit;
}

// Whether samples are so few that they are embedded as they are.
bool has_few_samples(const RunView& run, const std::vector<size_t>& series) {
  const double most = 2 * static_cast<double>(kReportWindows);
  const double period_s = run.sampling().period_s;
  if (period_s > 0 && run.duration_s() / period_s > most) return false;
  return static_cast<double>(reported_samples(run, series).most_of_one) <= most;
}

// A series with `factor` windows in each of its own.
ChartColumn folded_column(const RunView& run, size_t series, const FoldedSeries& folded,
                          size_t factor) {
  std::vector<double> times, means, mins, maxs, weights;
  const double width_s = folded.window_s * static_cast<double>(factor);
  for (size_t first = 0; first < folded.windows.size(); first += factor) {
    FoldedWindow sum;
    const size_t end = std::min(first + factor, folded.windows.size());
    for (size_t w = first; w < end; ++w) sum.add(folded.windows[w]);
    if (sum.is_empty()) continue;
    const size_t place = first / factor;
    times.push_back(folded.begin_s + width_s * (static_cast<double>(place) + 0.5));
    means.push_back(std::clamp(sum.sum / sum.weight, sum.min, sum.max));
    mins.push_back(sum.min);
    maxs.push_back(sum.max);
    weights.push_back(sum.weight);
  }
  return {column_header(run, series),
          {{"time", std::move(times)},
           {"mean", std::move(means)},
           {"min", std::move(mins)},
           {"max", std::move(maxs)},
           {"weight", std::move(weights)}}};
}

Result<std::string> packed(std::string_view columns) {
  TS_TRY(const std::string compressed, gzipped(columns));
  return base64(compressed);
}

std::string window_columns(const RunView& run, const std::vector<size_t>& series,
                           const std::vector<FoldedSeries>& folded, size_t factor) {
  std::vector<ChartColumn> columns;
  for (size_t i = 0; i < series.size(); ++i) {
    columns.push_back(folded_column(run, series[i], folded[i], factor));
  }
  const double width_s = folded.empty() ? 0 : folded.front().window_s * static_cast<double>(factor);
  const TimeSpan span{0, std::max(run.duration_s(), 1e-3)};
  return write_columns(columns_header(run, span, width_s), columns);
}

Result<std::vector<FoldedSeries>> fold_whole_run(const RunView& run,
                                                 const std::vector<size_t>& series) {
  std::vector<WindowQuery> queries;
  for (const size_t each : series) queries.push_back({each, reading_of(run.series_at(each)), true});
  const double duration_s = std::max(run.duration_s(), 1e-3);
  const double width_s = window_width(duration_s, kReportWindows);
  return fold_series(run, queries, {0, width_s, windows_to(duration_s, width_s)});
}

Json named_texts_json(const NamedTexts& rows, const char* name, const char* text) {
  Json list = Json::array();
  for (const auto& [key, value] : rows) list.push_back({{name, key}, {text, value}});
  return list;
}

Json ids_of(const ComparedSide& side) {
  Json ids = Json::array();
  for (const ComparedRun& run : side.runs) ids.push_back(run.id);
  return ids;
}

Json compared_data(const Comparison& comparison) {
  return {{"a", ids_of(comparison.a)},
          {"b", ids_of(comparison.b)},
          {"document", comparison_json(comparison, true)}};
}

// Files that the run kept; images of moderate size with their bytes.
Json kept_files_data(const RunView& run) {
  Json files = files_json(run);
  size_t left = kReportImageBytes;
  for (Json& file : files) {
    const auto bytes = static_cast<size_t>(integer_field(file, "bytes").value_or(0));
    const std::string type = text_field(file, "type");
    if (!type.starts_with("image/") || bytes > left) continue;
    const auto index = static_cast<size_t>(integer_field(file, "index").value_or(0));
    const auto opened = open_stored_file(run.path(), index);
    std::string content;
    if (!opened || !read_part(*opened, "", 0, bytes, content)) continue;
    file["data"] = "data:" + type + ";base64," + base64(content);
    left -= bytes;
  }
  return files;
}

Result<Json> run_data(const DiagnosedRun& diagnosed, size_t most_bytes) {
  const RunView& run = *diagnosed.run;
  Json head = run_head_json({run.path(), run.manifest(), run.status(), ""});
  TS_TRY(const OutputIndex lines, OutputIndex::read(run));
  TS_TRY(Json output, lines.lines(std::nullopt, kReportLines));
  TS_TRY(Json info, info_json(run));
  TS_TRY(Json marks, marks_json(run));
  TS_TRY(Json distribution, distribution_json(run));
  TS_TRY(const std::string columns, packed_series(run, most_bytes));
  TS_TRY(const std::string step_bytes, steps_columns(run, kReportSteps));
  TS_TRY(const std::string steps, packed(step_bytes));  // not rounded: people read their numbers
  return Json{{"run", head["run"]},
              {"diagnosis", shown_diagnosis_json(diagnosed)},
              {"info", std::move(info)},
              {"marks", std::move(marks)},
              {"output", std::move(output)},
              {"columns", columns},
              {"steps", steps},
              {"distribution", std::move(distribution)},
              {"files", kept_files_data(run)}};
}

}  // namespace

Result<std::string> packed_series(const RunView& run, size_t most_bytes) {
  const std::vector<size_t> series = embedded_series(run);
  if (has_few_samples(run, series)) {
    ColumnsQuery query;
    query.series = series;
    query.has_weights = true;
    TS_TRY(const std::string columns,
           sample_columns(run, query, {0, std::max(run.duration_s(), 1e-3)}));
    TS_TRY(std::string text, packed(rounded_columns(columns)));
    if (text.size() <= most_bytes) return text;
  }
  TS_TRY(const std::vector<FoldedSeries> folded, fold_whole_run(run, series));
  for (size_t factor = 1;; ++factor) {
    TS_TRY(std::string text, packed(rounded_columns(window_columns(run, series, folded, factor))));
    if (text.size() <= most_bytes || factor == kMostFactor) return text;
  }
}

Result<Json> report_data(const ReportContent& content) {
  Json runs = Json::object();
  for (const DiagnosedRun& diagnosed : content.runs) {
    TS_TRY(Json data, run_data(diagnosed, kReportSeriesBytes / content.runs.size()));
    runs[diagnosed.run->manifest().id] = std::move(data);
  }
  const bool has_comparison = !content.comparisons.empty();
  Json compare = nullptr, more = Json::array();
  if (has_comparison) compare = compared_data(content.comparisons.front());
  for (size_t i = 1; i < content.comparisons.size(); ++i) {
    more.push_back(compared_data(content.comparisons[i]));
  }
  return Json{
      {"version", 1},
      {"runs", std::move(runs)},
      {"compare", std::move(compare)},
      {"more_comparisons", std::move(more)},
      {"method", named_texts_json(method_of(content.runs, has_comparison), "title", "text")},
      {"environment", named_texts_json(environment_of(content.runs), "name", "value")},
      {"reproduce", reproduction_of(content.runs)}};
}

}  // namespace trainscope
