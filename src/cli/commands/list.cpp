// trainscope list: the runs of this home.
#include <fmt/format.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/print.h"
#include "cli/reading.h"
#include "cli/summary.h"
#include "cli/table.h"
#include "store/store.h"

namespace trainscope {

namespace {

// A run whose supervisor was killed has no stored duration: its last sample is used.
std::optional<double> duration_of(const RunListing& run) {
  if (run.manifest.duration_s || run.status == RunStatus::running) return run.manifest.duration_s;
  return last_sample_s(run.path);
}

Json listing_json(const RunListing& run) {
  const Manifest& m = run.manifest;
  const bool damaged = run.status == RunStatus::damaged;
  return {{"id", m.id},
          {"name", text_or_null(m.name)},
          {"started", text_or_null(m.started)},
          {"duration_s", value_or_null(duration_of(run))},
          {"command", m.command},
          {"exit_code", value_or_null(m.exit_code)},
          {"verdict", nullptr},
          {"steps", value_or_null(m.steps)},
          {"status", run_status_name(run.status)},
          {"path", run.path},
          {"problem", damaged ? Json(run.problem) : Json(nullptr)}};
}

std::string command_cell(const RunListing& run) {
  const Manifest& m = run.manifest;
  if (run.status == RunStatus::damaged && m.command.empty()) return run.problem;
  if (m.imported_format.empty()) return command_text(m.command);
  return fmt::format("imported from {}, {}", m.imported_format, m.imported_path);
}

std::string duration_cell(const RunListing& run) {
  if (run.status == RunStatus::running && run.manifest.zero_realtime_ns > 0) {
    return duration_text(to_seconds(realtime_ns() - run.manifest.zero_realtime_ns));
  }
  const auto duration_s = duration_of(run);
  return duration_s ? duration_text(*duration_s) : "–";
}

void print_human(const std::vector<RunListing>& runs, const std::string& home) {
  if (runs.empty()) {
    print_message("no runs in {} yet; record one with: trainscope run -- COMMAND\n", home);
    return;
  }
  Table table({"id", "name", "started", ">duration", "exit", "command"});
  for (const RunListing& run : runs) {
    table.add({run.manifest.id, shortened(printable(run.manifest.name), 24),
               local_time_text(run.manifest.started), duration_cell(run),
               outcome_text(run.manifest, run.status), command_cell(run)});
  }
  show_text(table.text(colour_wanted(STDOUT_FILENO), terminal_width(STDOUT_FILENO)));
}

std::function<Result<int>()> add(Options& options, const Settings& settings) {
  const auto flags = add_reading_flags(options, settings, true);
  return [flags]() -> Result<int> {
    TS_TRY(const std::vector<RunListing> runs, list_runs(flags->home));
    if (!flags->json) {
      print_human(runs, flags->home);
      return 0;
    }
    Json document = {{"schema", "trainscope.list/1"}, {"runs", Json::array()}};
    for (const RunListing& run : runs) document["runs"].push_back(listing_json(run));
    print_json(document);
    return 0;
  };
}

}  // namespace

extern const Command list_command;
const Command list_command = {
    .name = "list",
    .summary = "list the recorded runs",
    .examples = "trainscope list\ntrainscope list --json",
    .add = add,
};

}  // namespace trainscope
