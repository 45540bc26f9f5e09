// Typed access to what run_sql prints: for JSON output and for tests.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
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

// Of a run with more reports than this, `steps`, `phases` and `numbers` are not held in memory.
inline constexpr int64_t kMaxFilledReports = 500'000;

// One read-only statement. An Error holds SQLite's own words.
Status query_sql(const RunView& run, const std::string& query, const SqlOutput& output,
                 int64_t most_filled = kMaxFilledReports);

// Registers the virtual table `samples` over `run`, which must outlive the connection.
Status add_samples_table(sqlite3* database, const RunView& run);

}  // namespace trainscope
