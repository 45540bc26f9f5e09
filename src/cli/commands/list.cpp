// trainscope list: the runs of this home.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/group_rows.h"
#include "cli/print.h"
#include "cli/reading.h"
#include "cli/run_filter.h"
#include "cli/summary.h"
#include "cli/table.h"
#include "cli/tags.h"
#include "document/document.h"
#include "store/store.h"

namespace trainscope::list_command {

namespace {

std::string command_of(const RunListing& run) {
  const Manifest& m = run.manifest;
  if (run.status == RunStatus::damaged && m.command.empty()) return run.problem;
  if (m.imported_format.empty()) return command_text(m.command);
  return fmt::format("imported from {}, {}", m.imported_format, m.imported_path);
}

std::optional<double> duration_so_far(const RunListing& run) {
  if (run.status == RunStatus::running && run.manifest.zero_realtime_ns > 0) {
    return to_seconds(realtime_ns() - run.manifest.zero_realtime_ns);
  }
  return listed_duration_s(run);
}

// The longest.
std::string duration_cell(const ListRow& row) {
  std::optional<double> longest_s;
  for (const RunListing* run : row.runs) {
    const auto duration_s = duration_so_far(*run);
    if (duration_s && *duration_s > longest_s.value_or(-1)) longest_s = duration_s;
  }
  return longest_s ? duration_text(*longest_s) : "–";
}

// Of several runs the mean.
std::string speed_cell(const ListRow& row) {
  double sum = 0;
  int64_t count = 0;
  for (const RunListing* run : row.runs) {
    if (!run->manifest.steps_per_s) continue;
    sum += *run->manifest.steps_per_s;
    ++count;
  }
  return count == 0 ? "" : number_text(sum / static_cast<double>(count));
}

std::string id_cell(const ListRow& row) {
  return printable(row.group.empty() ? row.runs.front()->manifest.id : row.group);
}

std::string outcome_cell(const ListRow& row) {
  const RunListing& run = worst_run(row.runs);
  return outcome_text(run.manifest, run.status);
}

// The verdicts of its runs, each once.
std::string verdict_cell(const ListRow& row) {
  std::set<std::string> all;
  for (const RunListing* run : row.runs) {
    if (run->manifest.verdict) all.insert(printable(run->manifest.verdict->verdict));
  }
  std::string text;
  for (const std::string& verdict : all) text += (text.empty() ? "" : ", ") + verdict;
  return text;
}

// The wider the terminal, the higher the level, and the more columns are shown.
constexpr int kHighestLevel = 3;
constexpr size_t kCommandWidth = 24;  // of the last column, at least

struct Column {
  std::string_view heading;
  std::string (*cell)(const ListRow& row);
  int from_level = 0, to_level = kHighestLevel;
  bool hides_if_empty = false;
};

const std::string& started_of(const ListRow& row) { return row.runs.front()->manifest.started; }

constexpr Column kColumns[] = {
    {"id", id_cell},
    {"name", [](const ListRow& row) { return shortened(printable(common_name(row.runs)), 24); }},
    {"runs", [](const ListRow& row) { return row.place; }, 0, kHighestLevel, true},
    {"started", [](const ListRow& row) { return local_time_text(started_of(row)); }, 0, 0},
    {"started", [](const ListRow& row) { return local_time_text(started_of(row), true); }, 1},
    {">duration", duration_cell},
    {"exit", outcome_cell},
    {">steps/s", speed_cell, 2, kHighestLevel, true},
    {"verdict", verdict_cell, 1, kHighestLevel, true},
    {"tags",
     [](const ListRow& row) { return shortened(printable(tags_text(common_tags(row.runs))), 32); },
     3, kHighestLevel, true},
    {"command", [](const ListRow& row) { return command_of(*row.runs.front()); }},
};

using Cells = std::vector<std::string>;  // of one column, one per row

std::vector<Cells> cells_of(const std::vector<ListRow>& rows) {
  std::vector<Cells> all;
  for (const Column& column : kColumns) {
    Cells& cells = all.emplace_back();
    for (const ListRow& row : rows) cells.push_back(column.cell(row));
  }
  return all;
}

// The columns of a level.
Table table_of(const std::vector<Cells>& all, int level) {
  std::vector<size_t> shown;
  std::vector<std::string> headings;
  for (size_t c = 0; c < all.size(); ++c) {
    const Column& column = kColumns[c];
    const bool is_filled =
        std::any_of(all[c].begin(), all[c].end(), [](const auto& cell) { return !cell.empty(); });
    if (level < column.from_level || level > column.to_level) continue;
    if (column.hides_if_empty && !is_filled) continue;
    shown.push_back(c);
    headings.emplace_back(column.heading);
  }
  Table table(headings);
  for (size_t row = 0; row < all.front().size(); ++row) {
    std::vector<std::string> cells;
    for (const size_t c : shown) cells.push_back(all[c][row]);
    table.add(std::move(cells));
  }
  return table;
}

void print_human(const std::vector<ListRow>& rows, const std::string& home, bool is_filtered) {
  if (rows.empty() && is_filtered) {
    print_message("no run in {} matches\n", home);
    return;
  }
  if (rows.empty()) {
    print_message("no runs in {} yet; record one with: trainscope run -- COMMAND\n", home);
    return;
  }
  const size_t width = terminal_width(STDOUT_FILENO);
  const std::vector<Cells> cells = cells_of(rows);
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
               .help = "show only the newest N; a group counts as one",
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
               .help = "show only runs of this status; failed: the job exited with another code "
                       "than 0, was killed or did not start",
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

// Groups are made of all runs, whichever of them are shown.
void show_rows(std::vector<RunListing> all, RunFilter filter, const std::string& home,
               bool is_open) {
  const std::vector<RunGroup> groups = group_runs(all);
  const size_t count = filter.count;
  filter.count = 0;  // of rows, not of runs
  const auto runs = filter_runs(std::move(all), filter, realtime_ns());
  std::vector<ListRow> rows = list_rows(runs, groups, is_open);
  if (count > 0 && rows.size() > count) {
    rows.erase(rows.begin(), rows.end() - static_cast<ptrdiff_t>(count));
  }
  print_human(rows, home, !filter.is_empty());
}

// Scripts get every run.
void print_document(std::vector<RunListing> all, const RunFilter& filter) {
  print_json(list_document(filter_runs(std::move(all), filter, realtime_ns())));
}

std::function<Result<int>()> add(Options& options, const Settings& settings) {
  const auto flags = add_reading_flags(options, settings, true);
  auto texts = std::make_shared<RunFilterTexts>();
  auto is_open = std::make_shared<bool>(false);
  add_filter_rows(options, *texts);
  options.add({.name = "--open",
               .value = "",
               .help = "show every run of a group in its own row",
               .set = store_in(*is_open)});
  return [flags, texts, is_open]() -> Result<int> {
    TS_TRY(const RunFilter filter, parse_run_filter(*texts).with_context("list"));
    TS_TRY(std::vector<RunListing> all, list_runs(flags->home));
    if (flags->json) {
      print_document(std::move(all), filter);
    } else {
      show_rows(std::move(all), filter, flags->home, *is_open);
    }
    return 0;
  };
}

}  // namespace

extern const Command entry;
const Command entry = {
    .name = "list",
    .summary = "list the recorded runs",
    .examples = R"(trainscope list -n 10
trainscope list --name 'resnet*' --tag lr=0.1 --status failed
trainscope list --open --newer-than 1h
trainscope list --newer-than 7d --json)",
    .add = add,
};

}  // namespace trainscope::list_command
