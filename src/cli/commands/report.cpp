// trainscope report: runs as one HTML file, as pictures for papers, or as Markdown.
#include <fmt/format.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/compare_text.h"
#include "cli/compared_sides.h"
#include "cli/output_file.h"
#include "cli/print.h"
#include "cli/rasterize.h"
#include "cli/reading.h"
#include "cli/report_writer.h"
#include "report/report.h"

namespace trainscope::report_command {

namespace {

constexpr const char* kDefaultFile = "report.html";

struct ReportFlags {
  std::shared_ptr<ReadingFlags> reading;
  std::vector<std::string> runs;
  std::string output, svg, png;
  bool markdown = false, force = false;

  bool is_html() const { return svg.empty() && png.empty() && !markdown; }
};

// The file that is written; "": standard output.
std::string output_path(const ReportFlags& flags) {
  if (flags.output == "-") return "";
  return flags.output.empty() && flags.is_html() ? kDefaultFile : flags.output;
}

Status check_flags(const ReportFlags& flags) {
  const int kinds = (flags.svg.empty() ? 0 : 1) + (flags.png.empty() ? 0 : 1) + flags.markdown;
  if (kinds > 1) return Error("report: --svg, --png and --markdown exclude each other; use one");
  const std::string path = output_path(flags);
  if (flags.reading->json && path.empty()) return Error("report: --json needs -o FILE");
  if (!flags.png.empty() && path.empty() && ::isatty(STDOUT_FILENO) == 1) {
    return Error(fmt::format("report: a PNG is not text; try: -o {}.png", flags.png));
  }
  // Before anything is read: a report of a long run takes seconds.
  if (!path.empty() && !flags.force && exists(path)) return output_exists(path);
  return {};
}

std::string markdown_of(const ReportContent& content) {
  std::string out;
  for (const Comparison& comparison : content.comparisons) {
    out += comparison_markdown(comparison, {}) + "\n";
  }
  for (const DiagnosedRun& run : content.runs) {
    out += (&run == &content.runs.front() ? "" : "\n") + markdown_report(run);
  }
  return out;
}

Result<std::string> compose(const ReportFlags& flags, const ReportContent& content) {
  if (flags.markdown) return markdown_of(content);
  if (flags.is_html()) return html_report(content);
  const std::string& name = flags.svg.empty() ? flags.png : flags.svg;
  TS_TRY(const std::string svg, draw_picture(name, label_runs(content.runs)));
  if (!flags.svg.empty()) return svg;
  return svg_to_png(svg);
}

void say_written(const ReportFlags& flags, const ReportContent& content, const std::string& path,
                 size_t bytes) {
  if (!flags.reading->json) {
    print_message("trainscope: wrote {} ({})\n", path, bytes_text(static_cast<double>(bytes)));
    return;
  }
  Json ids = Json::array();
  for (const DiagnosedRun& run : content.runs) ids.push_back(run.run->manifest().id);
  print_json({{"schema", "trainscope.report/1"},
              {"path", absolute_path(path, current_folder())},
              {"bytes", bytes},
              {"runs", std::move(ids)}});
}

Result<int> write_report(const ReportFlags& flags) {
  TS_CHECK_OK(check_flags(flags));
  std::vector<std::vector<std::string>> sides;
  for (const std::string& text : flags.runs) {
    TS_TRY(std::vector<std::string> paths, side_paths(flags.reading->home, text));
    sides.push_back(std::move(paths));
  }
  if (sides.empty()) {
    TS_TRY(std::vector<std::string> paths, side_paths(flags.reading->home, "latest"));
    sides.push_back(std::move(paths));
  }
  TS_TRY(const ReportContent content, read_report(sides));
  TS_TRY(const std::string text, compose(flags, content));
  const std::string path = output_path(flags);
  if (path.empty()) {
    TS_CHECK_OK(write_stdout(text));
    return 0;
  }
  TS_CHECK_OK(
      write_output_file(path, flags.force, [&](const OutputSink& sink) { return sink(text); }));
  say_written(flags, content, path, text.size());
  return 0;
}

std::function<Result<int>()> add(Options& options, const Settings& settings) {
  auto flags = std::make_shared<ReportFlags>();
  flags->reading = add_reading_flags(options, settings, true);
  options.add({.name = "RUN",
               .value = "RUN",
               .help = "one run, or two and more that are compared with the first: a folder, id or "
                       "name; repeats as A1,A2, 'NAME*' or repeat-ID (default: latest)",
               .repeats = true,
               .set = store_in(flags->runs)});
  options.add({.name = "-o,--output",
               .value = "FILE",
               .help = "write to FILE; - is standard output (default: report.html; pictures and "
                       "Markdown: standard output)",
               .set = store_in(flags->output)});
  std::vector<std::string> names;
  for (const PictureName& picture : picture_names()) names.emplace_back(picture.name);
  options.add({.name = "--svg",
               .value = "CHART",
               .help = "draw one chart as SVG, 84 mm wide, for a paper",
               .choices = names,
               .set = store_in(flags->svg)});
  options.add({.name = "--png",
               .value = "CHART",
               .help = "draw one chart as PNG at 300 dots per inch (needs rsvg-convert)",
               .choices = names,
               .set = store_in(flags->png)});
  options.add({.name = "--markdown",
               .value = "",
               .help = "print Markdown for a pull request",
               .set = store_in(flags->markdown)});
  options.add({.name = "--force",
               .value = "",
               .help = "overwrite FILE if it exists",
               .set = store_in(flags->force)});
  return [flags] { return write_report(*flags); };
}

}  // namespace

extern const Command entry;
const Command entry = {
    .name = "report",
    .summary = "write runs as one HTML file to share, as pictures or as Markdown",
    .examples = R"(trainscope report latest -o report.html
trainscope report baseline candidate -o comparison.html
trainscope report latest --svg step_time -o step_time.svg
trainscope report baseline candidate --png breakdown -o breakdown.png
trainscope report latest --markdown)",
    .add = add,
};

}  // namespace trainscope::report_command
