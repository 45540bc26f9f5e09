// trainscope export: a run in another format.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "base/fd.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/follow.h"
#include "cli/output_file.h"
#include "cli/print.h"
#include "cli/reading.h"
#include "export/export.h"
#include "model/training.h"

namespace trainscope::export_command {

namespace {

struct ExportFlags {
  std::shared_ptr<ReadingFlags> reading;
  std::string format, output, begin, end, every;
  std::vector<std::string> metrics;
  bool wide = false, rates = false, steps = false, follow = false, force = false;

  bool has_file() const { return !output.empty() && output != "-"; }
};

Result<const Exporter*> choose_exporter(const ExportFlags& flags) {
  std::string known;
  for (const Exporter* exporter : exporters()) {
    if (flags.format == exporter->name) return exporter;
    if (flags.format.empty() && flags.output.ends_with(exporter->extension)) return exporter;
    known += (known.empty() ? "" : ", ") + std::string(exporter->name);
  }
  if (flags.format.empty() && !flags.output.empty()) {
    return Error(fmt::format("export: cannot infer the format from {}; use --to with one of {}",
                             printable(flags.output), known));
  }
  if (flags.format.empty()) return Error("export: no format given; use --to with one of " + known);
  return Error(fmt::format("export: unknown format '{}'; use one of {}", flags.format, known));
}

// A place in the run: a duration from t = 0, which may be 0.
Result<std::optional<double>> parse_place(const std::string& flag, const std::string& text) {
  if (text.empty()) return std::optional<double>();
  TS_TRY(const int64_t ns, parse_duration_or_zero(text).with_context(flag));
  return std::optional<double>(static_cast<double>(ns) / 1e9);
}

// Steps are not samples: what selects or changes samples does not apply to them.
Status check_steps_flags(const ExportFlags& flags) {
  const std::pair<const char*, bool> others[] = {{"--metric", !flags.metrics.empty()},
                                                 {"--every", !flags.every.empty()},
                                                 {"--rates", flags.rates},
                                                 {"--wide", flags.wide}};
  for (const auto& [name, is_given] : others) {
    if (!is_given) continue;
    return Error(fmt::format("export: --steps cannot be combined with {}; leave one out", name));
  }
  return {};
}

Result<ExportOptions> export_options(const ExportFlags& flags, const Exporter& exporter) {
  ExportOptions options;
  options.metrics = flags.metrics;
  options.wide = flags.wide;
  options.rates = flags.rates;
  options.steps = flags.steps;
  if (flags.wide && !exporter.has_wide) {
    return Error(fmt::format("export: {} does not support --wide", exporter.name));
  }
  if (flags.follow && exporter.follow == nullptr) {
    return Error(
        fmt::format("export: {} does not support --follow; use --to jsonl", exporter.name));
  }
  if (flags.steps) TS_CHECK_OK(check_steps_flags(flags));
  TS_TRY(options.range.begin_s, parse_place("--begin", flags.begin));
  TS_TRY(options.range.end_s, parse_place("--end", flags.end));
  if (options.range.begin_s && options.range.end_s &&
      *options.range.end_s <= *options.range.begin_s) {
    return Error("export: --end must be after --begin");
  }
  if (!flags.every.empty()) {
    TS_TRY(options.every_ns, parse_period(flags.every).with_context("--every"));
  }
  return options;
}

Status write_file(const RunView& run, const Exporter& exporter, const ExportOptions& options,
                  const ExportFlags& flags) {
  return write_output_file(flags.output, flags.force, [&](const OutputSink& sink) {
    return exporter.write(run, options, sink);
  });
}

// What is written stays, whatever ends it: somebody may be reading it already.
Status follow_to_file(const std::string& run_path, const Exporter& exporter,
                      const ExportOptions& options, const ExportFlags& flags) {
  const int mode = flags.force ? O_TRUNC : O_EXCL;
  auto fd = open_file(flags.output, O_WRONLY | O_CREAT | mode, 0666);
  if (!fd && fd.error().error_number() == EEXIST) return output_exists(flags.output);
  if (!fd) return fd.error();
  const ExportSink sink = [&](std::string_view bytes) {
    return write_all(fd->get(), bytes).with_context(flags.output);
  };
  return follow_run(run_path, options, *exporter.follow(options, sink), -1);
}

Result<int> follow_export(const ExportFlags& flags, const Exporter& exporter,
                          const ExportOptions& options) {
  TS_TRY(const std::string path, find_named_run(*flags.reading));
  if (flags.has_file()) {
    TS_CHECK_OK(follow_to_file(path, exporter, options, flags));
    return 0;
  }
  const ExportSink sink = write_stdout;
  TS_CHECK_OK(follow_run(path, options, *exporter.follow(options, sink), STDOUT_FILENO));
  return 0;
}

Result<int> run_export(const ExportFlags& flags) {
  TS_TRY(const Exporter* exporter, choose_exporter(flags));
  TS_TRY(const ExportOptions options, export_options(flags, *exporter));
  if (flags.follow) return follow_export(flags, *exporter, options);
  TS_TRY(const auto run, open_named_run(*flags.reading));
  if (flags.steps && run->training().observed == 0) {
    print_error(run->training().reason);
  }
  if (flags.has_file()) {
    TS_CHECK_OK(write_file(*run, *exporter, options, flags));
    return 0;
  }
  if (!exporter->is_text && ::isatty(STDOUT_FILENO) == 1) {
    return Error(fmt::format("export: {} is not a text format; use -o FILE", exporter->name));
  }
  TS_CHECK_OK(exporter->write(*run, options, write_stdout));
  return 0;
}

std::function<Result<int>()> add(Options& options, const Settings& settings) {
  auto flags = std::make_shared<ExportFlags>();
  flags->reading = add_reading_flags(options, settings, false);
  add_run_argument(options, flags->reading);
  std::vector<std::string> formats;
  for (const Exporter* exporter : exporters()) formats.emplace_back(exporter->name);
  options.add({.name = "--to",
               .value = "FORMAT",
               .help = "output format (default: inferred from the extension of FILE)",
               .choices = formats,
               .set = store_in(flags->format)});
  options.add({.name = "-o,--output",
               .value = "FILE",
               .help = "write to FILE instead of standard output",
               .set = store_in(flags->output)});
  options.add({.name = "--metric",
               .value = "NAME",
               .help = "export only this metric; * matches any characters; repeatable",
               .repeats = true,
               .set = store_in(flags->metrics)});
  options.add(
      {.name = "--begin",
       .value = "DURATION",
       .help = "export only samples or steps from this time on, counted from the start of the run",
       .set = store_in(flags->begin)});
  options.add(
      {.name = "--end",
       .value = "DURATION",
       .help = "export only samples or steps before this time, counted from the start of the run",
       .set = store_in(flags->end)});
  options.add({.name = "--every",
               .value = "DURATION",
               .help = "one value per DURATION: mean of a gauge, last value of a counter",
               .set = store_in(flags->every)});
  options.add({.name = "--wide",
               .value = "",
               .help = "one column per series (csv)",
               .set = store_in(flags->wide)});
  options.add({.name = "--rates",
               .value = "",
               .help = "counters as rates per second since the sample before (By becomes By/s)",
               .set = store_in(flags->rates)});
  options.add({.name = "--steps",
               .value = "",
               .help = "export the training steps, one row each, instead of samples",
               .set = store_in(flags->steps)});
  options.add({.name = "--follow",
               .value = "",
               .help = "also write what is recorded from now on, until the run ends (jsonl)",
               .set = store_in(flags->follow)});
  options.add({.name = "--force",
               .value = "",
               .help = "overwrite FILE if it exists",
               .set = store_in(flags->force)});
  return [flags] { return run_export(*flags); };
}

}  // namespace

extern const Command entry;
const Command entry = {
    .name = "export",
    .summary = "write a run in another format",
    .examples = R"(trainscope export latest --to csv -o run.csv
trainscope export latest --to csv --wide --metric 'system.cpu.*' --every 1s
trainscope export latest --to csv --rates --metric system.network.io --every 1s
trainscope export latest --to csv --steps -o steps.csv
trainscope export latest --to jsonl --steps --follow
trainscope export latest --to jsonl --begin 10s --end 20s)",
    .add = add,
};

}  // namespace trainscope::export_command
