// trainscope sql: a query over one run, or over the runs of a group.
#include <fmt/format.h>

#include "cli/cli.h"
#include "cli/print.h"
#include "cli/reading.h"
#include "cli/sql_json.h"
#include "store/store.h"

namespace trainscope::sql_command {

namespace {

using Query = std::function<Status(const SqlOutput& output)>;

Result<int> print_document(const Query& query) {
  SqlDocument document(write_stdout);
  if (const Status done = query(document.output()); !done) return done.error().with_context("sql");
  TS_CHECK_OK(document.finish());
  return 0;
}

// `sql RUN` alone: the only argument is taken as the query, and no query is a single word.
bool is_single_word(std::string_view text) {
  return !text.empty() && text.find_first_of(" \t\r\n(;") == std::string_view::npos;
}

Result<int> query_run(const RunView& run, const ReadingFlags& flags, const std::string& text) {
  if (flags.json) {
    return print_document([&](const SqlOutput& output) { return query_sql(run, text, output); });
  }
  if (const Status done = run_sql(run, text, write_stdout); !done) {
    return done.error().with_context("sql");
  }
  return 0;
}

Result<int> query_group(const RunGroup& group, const ReadingFlags& flags, const std::string& text) {
  if (flags.json) {
    return print_document(
        [&](const SqlOutput& output) { return query_group_sql(group, text, output); });
  }
  if (const Status done = run_group_sql(group, text, write_stdout); !done) {
    return done.error().with_context("sql");
  }
  return 0;
}

Result<int> query(const ReadingFlags& flags, const std::string& text) {
  if (is_single_word(text)) {
    return Error(fmt::format(
        "sql: '{}' is not a query; try: trainscope sql RUN \"select * from metrics\"", text));
  }
  TS_TRY(const RunTarget target, find_target(flags.home, flags.run));
  if (target.group) return query_group(*target.group, flags, text);
  TS_TRY(const auto run, open_found_run(target.paths.back()));
  return query_run(*run, flags, text);
}

std::function<Result<int>()> add(Options& options, const Settings& settings) {
  const auto flags = add_reading_flags(options, settings, true);
  add_run_argument(options, flags, kRunOrGroupHelp);
  auto text = std::make_shared<std::string>();
  options.add({.name = "SQL",
               .value = "SQL",
               .help = "query over the tables below; the only argument is the query",
               .is_required = true,
               .set = store_in(*text)});
  return [flags, text] { return query(*flags, *text); };
}

std::vector<HelpRow> tables() {
  std::vector<HelpRow> rows;
  for (const SqlTable& table : sql_tables()) {
    rows.push_back({fmt::format("{}({})", table.name, table.columns), table.help});
  }
  for (const SqlTable& table : group_sql_tables()) {
    rows.push_back({fmt::format("{}({})", table.name, table.columns), table.help});
  }
  rows.push_back({"run, rank", "the first columns of every table of a group"});
  rows.push_back(
      {"joins", fmt::format("of long trainings steps, phases and numbers are read at most {} times "
                            "per query: use lag() over (order by step), or read them once: with t "
                            "as materialized (select …)",
                            kMaxStreamedPasses)});
  return rows;
}

}  // namespace

extern const Command entry;
const Command entry = {
    .name = "sql",
    .summary = "query a run or a group with SQL and print CSV",
    .examples =
        R"(trainscope sql "select metric, labels, max(value) from samples group by 1, 2"
trainscope sql baseline "select * from gaps"
trainscope sql slurm-4711.0 "select rank, avg(duration_s) from steps group by rank")",
    .details = tables,
    .details_title = "Tables",
    .add = add,
};

}  // namespace trainscope::sql_command
