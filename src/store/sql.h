// Typed access to what run_sql prints: for JSON output and for tests.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "model/model.h"

struct sqlite3;

namespace trainscope {

using SqlValue = std::variant<std::monostate, int64_t, double, std::string>;

struct SqlOutput {
  std::function<Status(const std::vector<std::string>&)> columns;
  std::function<Status(const std::vector<SqlValue>&)> row;
};

// A table that a query may read, for help and reference.
struct SqlTable {
  std::string name;
  std::string columns;  // "time_s, kind, text"
  std::string help;
};
std::vector<SqlTable> sql_tables();

// One read-only statement. An Error holds SQLite's own words.
Status query_sql(const RunView& run, const std::string& query, const SqlOutput& output);

// The virtual table `samples`, as SQL declares its columns.
inline constexpr std::string_view kSamplesColumns =
    "time_s REAL, metric TEXT, labels TEXT, value REAL";
// Registers the virtual table `samples` over `run`, which must outlive the connection.
Status add_samples_table(sqlite3* database, const RunView& run);

}  // namespace trainscope
