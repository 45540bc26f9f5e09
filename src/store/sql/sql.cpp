#include "store/sql/sql.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <functional>
#include <initializer_list>
#include <set>

#include "base/text.h"
#include "store/sql/sql_tables.h"
#include "store/store.h"

namespace trainscope {

namespace {

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
};
struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;
using Statement = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

Error sql_error(sqlite3* database) {
  const std::string words = sqlite3_errmsg(database);
  if (sqlite3_errcode(database) == SQLITE_AUTH) return Error(words + ": only reading is allowed");
  return Error(words);
}

// Reading only: no other files, no writing, no settings, no extensions. Names of the tables that a
// statement reads go to `data`, a set of them.
int authorize(void* data, int action, const char* first, const char* second,
              const char* /*database*/, const char* /*trigger*/) {
  switch (action) {
    case SQLITE_READ:
      static_cast<std::set<std::string>*>(data)->insert(lower(first));  // as the query writes it
      return SQLITE_OK;
    case SQLITE_SELECT:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      return std::string_view(second) == "load_extension" ? SQLITE_DENY : SQLITE_OK;
    case SQLITE_PRAGMA: {  // those that describe tables
      const std::string_view name = first;
      return name == "table_info" || name == "table_xinfo" || name == "table_list" ? SQLITE_OK
                                                                                   : SQLITE_DENY;
    }
    default:
      return SQLITE_DENY;
  }
}

Result<Statement> prepare(sqlite3* database, const std::string& query, const char** rest) {
  sqlite3_stmt* raw = nullptr;
  const int code =
      sqlite3_prepare_v2(database, query.c_str(), static_cast<int>(query.size()) + 1, &raw, rest);
  Statement statement(raw);
  if (code != SQLITE_OK) return sql_error(database);
  return statement;
}

// The only statement of a query.
Result<Statement> prepare_reading(sqlite3* database, const std::string& query) {
  const char* rest = nullptr;
  TS_TRY(Statement statement, prepare(database, query, &rest));
  if (statement == nullptr) return Error("the query is empty");
  if (rest != nullptr &&
      std::string_view(rest).find_first_not_of(" \t\r\n;") != std::string_view::npos) {
    return Error("one statement at a time");
  }
  if (sqlite3_stmt_readonly(statement.get()) == 0) return Error("only reading is allowed");
  return statement;
}

// "time_s, kind" of "time_s REAL, kind TEXT".
std::string column_names(std::string_view columns) {
  std::string names;
  for (const std::string_view column : split(columns, ',')) {
    const std::string_view text = trim(column);
    if (!names.empty()) names += ", ";
    names += text.substr(0, text.find(' '));
  }
  return names;
}

SqlValue value_of(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
      return SqlValue(static_cast<int64_t>(sqlite3_column_int64(statement, column)));
    case SQLITE_FLOAT:
      return SqlValue(sqlite3_column_double(statement, column));
    case SQLITE_NULL:
      return {};
    default: {
      const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement, column));
      const auto size = static_cast<size_t>(sqlite3_column_bytes(statement, column));
      return SqlValue(bytes == nullptr ? std::string() : std::string(bytes, size));
    }
  }
}

Status pass_rows(sqlite3* database, sqlite3_stmt* statement, const SqlOutput& output) {
  const int columns = sqlite3_column_count(statement);
  std::vector<std::string> names;
  for (int c = 0; c < columns; ++c) names.emplace_back(sqlite3_column_name(statement, c));
  TS_CHECK_OK(output.columns(names));
  std::vector<SqlValue> row(names.size());
  for (;;) {
    const int code = sqlite3_step(statement);
    if (code == SQLITE_DONE) return {};
    if (code != SQLITE_ROW) return sql_error(database);
    for (int c = 0; c < columns; ++c) row[static_cast<size_t>(c)] = value_of(statement, c);
    TS_CHECK_OK(output.row(row));
  }
}

void append_csv(std::string& line, const SqlValue& value) {
  if (const auto* number = std::get_if<double>(&value)) {
    line += fmt::format("{}", *number);
  } else if (const auto* whole = std::get_if<int64_t>(&value)) {
    line += fmt::format("{}", *whole);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    // An empty text is quoted: without quotes it is NULL.
    if (text->empty()) line += R"("")";
    append_csv_field(line, *text);
  }
}

Status write_csv(const QueriedRuns& runs, const std::string& query,
                 const std::function<Status(std::string_view)>& out) {
  std::string text;
  constexpr size_t kFull = 1 << 16;
  const auto add_line = [&](const std::vector<SqlValue>& values) -> Status {
    for (size_t i = 0; i < values.size(); ++i) {
      if (i > 0) text += ',';
      append_csv(text, values[i]);
    }
    text += "\r\n";
    if (text.size() < kFull) return {};
    Status status = out(text);
    text.clear();
    return status;
  };
  const SqlOutput output = {
      [&](const std::vector<std::string>& names) {
        return add_line(std::vector<SqlValue>(names.begin(), names.end()));
      },
      add_line,
  };
  TS_CHECK_OK(query_runs(runs, query, output, kMaxFilledReports));
  return out(text);
}

}  // namespace

Status query_runs(const QueriedRuns& runs, const std::string& query, const SqlOutput& output,
                  int64_t most_filled) {
  sqlite3* raw = nullptr;
  const int opened =
      sqlite3_open_v2(":memory:", &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  const Database database(raw);
  if (opened != SQLITE_OK) return Error("SQLite does not start");
  // A large sort must not leave files behind, nor fail on a read-only machine.
  sqlite3_exec(raw, "PRAGMA temp_store = MEMORY", nullptr, nullptr, nullptr);
  TS_CHECK_OK(create_run_tables(raw, runs));
  TS_CHECK_OK(add_samples_table(raw, runs));
  std::set<std::string> wanted;
  sqlite3_set_authorizer(raw, authorize, &wanted);
  TS_TRY(Statement statement, prepare_reading(raw, query));
  statement.reset();  // no table that it reads could be replaced
  sqlite3_set_authorizer(raw, nullptr, nullptr);
  TS_CHECK_OK(provide_run_tables(raw, runs, wanted, most_filled));
  sqlite3_set_authorizer(raw, authorize, &wanted);
  TS_TRY(statement, prepare_reading(raw, query));
  return pass_rows(raw, statement.get(), output);
}

std::vector<SqlTable> sql_tables() {
  std::vector<SqlTable> tables = {
      {"samples", column_names(kSamplesColumns), "every value of every series; labels as k=v;k=v"}};
  for (const RunTable& table : run_tables()) {
    if (table.is_of_group) continue;
    tables.push_back({table.name, column_names(table.columns), table.help});
  }
  return tables;
}

std::vector<SqlTable> group_sql_tables() {
  std::vector<SqlTable> tables;
  for (const RunTable& table : run_tables()) {
    if (!table.is_of_group) continue;
    const std::string columns = std::string(kGroupColumns) + table.columns;
    tables.push_back({table.name, column_names(columns), table.help});
  }
  return tables;
}

Status query_sql(const RunView& run, const std::string& query, const SqlOutput& output,
                 int64_t most_filled) {
  return query_runs(OneQueriedRun(run), query, output, most_filled);
}

Status query_group_sql(const RunGroup& group, const std::string& query, const SqlOutput& output,
                       int64_t most_filled) {
  return query_runs(QueriedGroup(group.paths), query, output, most_filled);
}

Status run_sql(const RunView& run, const std::string& query,
               const std::function<Status(std::string_view)>& out) {
  return write_csv(OneQueriedRun(run), query, out);
}

Status run_group_sql(const RunGroup& group, const std::string& query,
                     const std::function<Status(std::string_view)>& out) {
  return write_csv(QueriedGroup(group.paths), query, out);
}

}  // namespace trainscope
