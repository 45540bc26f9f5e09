// trainscope sql: a query over one run.
#include <fmt/format.h>

#include "cli/cli.h"
#include "cli/print.h"
#include "cli/reading.h"
#include "cli/sql_json.h"
#include "store/store.h"

namespace trainscope {

namespace {

Result<int> print_document(const RunView& run, const std::string& query) {
  SqlDocument document(write_stdout);
  if (const Status done = query_sql(run, query, document.output()); !done)
    return done.error().with_context("sql");
  TS_CHECK_OK(document.finish());
  return 0;
}

// `sql RUN` alone: the only argument is taken as the query, and no query is a single word.
bool is_single_word(std::string_view text) {
  return !text.empty() && text.find_first_of(" \t\r\n(;") == std::string_view::npos;
}

Result<int> query(const ReadingFlags& flags, const std::string& text) {
  if (is_single_word(text)) {
    return Error(fmt::format(
        "sql: '{}' is not a query; try: trainscope sql RUN \"select * from metrics\"", text));
  }
  TS_TRY(const auto run, open_named_run(flags));
  if (flags.json) return print_document(*run, text);
  if (const Status done = run_sql(*run, text, write_stdout); !done) {
    return done.error().with_context("sql");
  }
  return 0;
}

std::function<Result<int>()> add(Options& options, const Settings& settings) {
  const auto flags = add_reading_flags(options, settings, true);
  add_run_argument(options, flags);
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
  return rows;
}

}  // namespace

extern const Command sql_command;
const Command sql_command = {
    .name = "sql",
    .summary = "query a run with SQL and print CSV",
    .examples =
        R"(trainscope sql "select metric, labels, max(value) from samples group by 1, 2"
trainscope sql baseline "select * from gaps")",
    .details = tables,
    .details_title = "Tables",
    .add = add,
};

}  // namespace trainscope
