// trainscope list: the runs of this home.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/info_json.h"
#include "cli/print.h"
#include "cli/reading.h"
#include "cli/run_filter.h"
#include "cli/summary.h"
#include "cli/table.h"
#include "cli/tags.h"
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
          {"tags", tags_json(m)},
          {"note", text_or_null(m.note)},
          {"rank", m.world_size > 1 ? Json(m.rank) : Json(nullptr)},
          {"group", group_json(m)},
          {"started", text_or_null(m.started)},
          {"duration_s", value_or_null(duration_of(run))},
          {"command", m.command},
          {"exit_code", value_or_null(m.exit_code)},
          {"verdict", m.verdict ? Json(m.verdict->verdict) : Json(nullptr)},
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

// Over the whole run, which begins before the first step.
std::string speed_cell(const RunListing& run) {
  if (!run.manifest.steps) return "";
  const auto duration_s = duration_of(run);
  if (!duration_s || *duration_s <= 0) return "";
  return number_text(static_cast<double>(*run.manifest.steps) / *duration_s);
}

// The wider the terminal, the higher the level, and the more columns are shown.
constexpr int kHighestLevel = 3;
constexpr size_t kCommandWidth = 24;  // of the last column, at least

struct Column {
  std::string_view heading;
  std::string (*cell)(const RunListing& run);
  int from_level = 0, to_level = kHighestLevel;
};

constexpr Column kColumns[] = {
    {"id", [](const RunListing& run) { return run.manifest.id; }},
    {"name", [](const RunListing& run) { return shortened(printable(run.manifest.name), 24); }},
    {"started", [](const RunListing& run) { return local_time_text(run.manifest.started); }, 0, 0},
    {"started", [](const RunListing& run) { return local_time_text(run.manifest.started, true); },
     1},
    {">duration", duration_cell},
    {"exit", [](const RunListing& run) { return outcome_text(run.manifest, run.status); }},
    {">steps/s", speed_cell, 2},
    {"verdict",
     [](const RunListing& run) {
       return run.manifest.verdict ? printable(run.manifest.verdict->verdict) : std::string();
     },
     1},
    {"tags",
     [](const RunListing& run) { return shortened(printable(tags_text(run.manifest.tags)), 32); },
     3},
    {"command", command_cell},
};

using Cells = std::vector<std::string>;  // of one column, one per run

std::vector<Cells> cells_of(const std::vector<RunListing>& runs) {
  std::vector<Cells> all;
  for (const Column& column : kColumns) {
    Cells& cells = all.emplace_back();
    for (const RunListing& run : runs) cells.push_back(column.cell(run));
  }
  return all;
}

// The columns of a level. One that is not shown at every level must have something to show.
Table table_of(const std::vector<Cells>& all, int level) {
  std::vector<size_t> shown;
  std::vector<std::string> headings;
  for (size_t c = 0; c < all.size(); ++c) {
    const Column& column = kColumns[c];
    const bool is_filled =
        std::any_of(all[c].begin(), all[c].end(), [](const auto& cell) { return !cell.empty(); });
    if (level < column.from_level || level > column.to_level) continue;
    if (column.from_level > 0 && !is_filled) continue;
    shown.push_back(c);
    headings.emplace_back(column.heading);
  }
  Table table(headings);
  for (size_t run = 0; run < all.front().size(); ++run) {
    std::vector<std::string> row;
    for (const size_t c : shown) row.push_back(all[c][run]);
    table.add(std::move(row));
  }
  return table;
}

void print_human(const std::vector<RunListing>& runs, const std::string& home, bool is_filtered) {
  if (runs.empty() && is_filtered) {
    print_message("no run in {} matches\n", home);
    return;
  }
  if (runs.empty()) {
    print_message("no runs in {} yet; record one with: trainscope run -- COMMAND\n", home);
    return;
  }
  const size_t width = terminal_width(STDOUT_FILENO);
  const std::vector<Cells> cells = cells_of(runs);
  int level = kHighestLevel;
  while (width > 0 && level > 0 &&
         table_of(cells, level).width_before_last() + kCommandWidth > width) {
    --level;
  }
  show_text(table_of(cells, level).text(colour_wanted(STDOUT_FILENO), width));
}

void add_filter_rows(Options& options, RunFilterTexts& texts) {
  options.add({.name = "-n,--count",
               .value = "N",
               .help = "show only the newest N runs",
               .set = store_in(texts.count)});
  options.add({.name = "--name",
               .value = "NAME",
               .help = "show only runs of this name; * matches any characters",
               .set = store_in(texts.name)});
  options.add({.name = "--tag",
               .value = "KEY=VALUE",
               .help = "show only runs with this tag; KEY alone: with any value; repeatable",
               .repeats = true,
               .set = store_in(texts.tags)});
  options.add({.name = "--command",
               .value = "TEXT",
               .help = "show only runs whose command contains TEXT",
               .set = store_in(texts.command)});
  options.add({.name = "--status",
               .value = "STATUS",
               .help = "show only runs of this status; failed: ended without exit code 0",
               .choices = run_filter_statuses(),
               .set = store_in(texts.status)});
  options.add({.name = "--newer-than",
               .value = "DURATION",
               .help = "show only runs that started at most DURATION ago",
               .set = store_in(texts.newer_than)});
  options.add({.name = "--older-than",
               .value = "DURATION",
               .help = "show only runs that started more than DURATION ago",
               .set = store_in(texts.older_than)});
}

std::function<Result<int>()> add(Options& options, const Settings& settings) {
  const auto flags = add_reading_flags(options, settings, true);
  auto texts = std::make_shared<RunFilterTexts>();
  add_filter_rows(options, *texts);
  return [flags, texts]() -> Result<int> {
    TS_TRY(const RunFilter filter, parse_run_filter(*texts).with_context("list"));
    TS_TRY(std::vector<RunListing> all, list_runs(flags->home));
    const std::vector<RunListing> runs = filter_runs(std::move(all), filter, realtime_ns());
    if (!flags->json) {
      print_human(runs, flags->home, !filter.is_empty());
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
    .examples = R"(trainscope list -n 10
trainscope list --name 'resnet*' --tag lr=0.1 --status failed
trainscope list --newer-than 7d --json)",
    .add = add,
};

}  // namespace trainscope
