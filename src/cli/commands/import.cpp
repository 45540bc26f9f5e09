// trainscope import: imports a recording made by another tool.
#include <fmt/format.h>

#include "base/fd.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/print.h"
#include "cli/reading.h"
#include "cli/recording.h"
#include "import/import.h"
#include "store/store.h"

namespace trainscope::import_command {

namespace {

struct ImportFlags {
  std::shared_ptr<ReadingFlags> reading;
  std::string format, path, name, every;
};

std::string known_formats() {
  std::string known;
  for (const Importer* importer : importers()) {
    known += (known.empty() ? "" : ", ") + std::string(importer->name);
  }
  return known;
}

Result<const Importer*> choose_importer(const ImportFlags& flags) {
  const Importer* found = nullptr;
  for (const Importer* importer : importers()) {
    const bool named = importer->name == flags.format;
    if (!named && (!flags.format.empty() || !importer->recognises(flags.path))) continue;
    if (found != nullptr) {
      return Error(fmt::format("import: {} may be {} or {}; choose with --from", flags.path,
                               found->name, importer->name));
    }
    found = importer;
  }
  if (found != nullptr) return found;
  if (!flags.format.empty()) {
    return Error(
        fmt::format("import: unknown format '{}'; use one of {}", flags.format, known_formats()));
  }
  return Error(fmt::format(
      "import: cannot detect the format of {}; use --from FORMAT (one of {}) to see why",
      flags.path, known_formats()));
}

Result<ImportOptions> import_options(const ImportFlags& flags) {
  ImportOptions options{flags.path, std::nullopt};
  while (options.path.size() > 1 && options.path.ends_with('/')) options.path.pop_back();
  TS_CHECK_OK(check_text("--name", flags.name));
  TS_CHECK_OK(check_run_name(flags.name).with_context("--name"));
  if (flags.every.empty()) return options;
  TS_TRY(const int64_t every_ns, parse_period(flags.every).with_context("--every"));
  TS_CHECK_OK(check_period(every_ns, "--every", flags.every));
  options.every_ns = every_ns;
  return options;
}

Json document_of(const RunData& run, const WrittenRun& made) {
  const Manifest& m = made.manifest;
  return {{"schema", "trainscope.import/1"},
          {"run",
           {{"id", m.id},
            {"name", text_or_null(m.name)},
            {"path", made.path},
            {"imported_format", m.imported_format},
            {"imported_path", m.imported_path}}},
          {"samples", made.rows},
          {"series", run.columns.size()},
          {"period_s", static_cast<double>(m.period_ns) / 1e9},
          {"duration_s", m.duration_s.value_or(0)},
          {"notes", m.notes}};
}

void print_human(const RunData& run, const WrittenRun& made) {
  const Manifest& m = made.manifest;
  show("run {}{}: {} rows and {} series from {}, {}\n", m.id, m.name.empty() ? "" : " " + m.name,
       made.rows, run.columns.size(), m.imported_format, m.imported_path);
  for (const std::string& note : m.notes) show("  note: {}\n", note);
  show("next: trainscope info {}\n", m.id);
}

Result<int> run_import(const ImportFlags& flags) {
  if (!exists(flags.path)) return Error(fmt::format("import: {} does not exist", flags.path));
  TS_TRY(const ImportOptions options, import_options(flags));
  TS_TRY(const Importer* importer, choose_importer(flags));
  TS_TRY(RunData run, importer->read(options));
  run.manifest.name = flags.name;
  TS_TRY(const WrittenRun made, write_run(flags.reading->home, run));
  if (flags.reading->json) {
    print_json(document_of(run, made));
  } else {
    print_human(run, made);
  }
  return 0;
}

std::function<Result<int>()> add(Options& options, const Settings& settings) {
  auto flags = std::make_shared<ImportFlags>();
  flags->reading = add_reading_flags(options, settings, true);
  std::vector<std::string> formats;
  for (const Importer* importer : importers()) formats.emplace_back(importer->name);
  options.add({.name = "--from",
               .value = "FORMAT",
               .help = "input format (default: detected from PATH)",
               .choices = formats,
               .set = store_in(flags->format)});
  options.add({.name = "PATH",
               .value = "PATH",
               .help = "file or folder of the recording",
               .is_required = true,
               .set = store_in(flags->path)});
  options.add({.name = "--name",
               .value = "TEXT",
               .help = "name of the run; need not be unique",
               .set = store_in(flags->name)});
  options.add({.name = "--every",
               .value = "DURATION",
               .help = "sampling period, if the recording does not state one",
               .set = store_in(flags->every)});
  return [flags] { return run_import(*flags); };
}

}  // namespace

extern const Command entry;
const Command entry = {
    .name = "import",
    .summary = "import a recording made by another tool",
    .examples = R"(trainscope import --from collect-logs logs/gpu --name gpu
trainscope import --from tegrastats board.log --every 500ms
trainscope import board.log --json)",
    .add = add,
};

}  // namespace trainscope::import_command
