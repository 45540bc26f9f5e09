// The virtual table of samples.
#pragma once

#include <string_view>

#include "base/result.h"
#include "store/sql/sql_runs.h"

struct sqlite3;

namespace trainscope {

// What the table `samples` holds of a run at a time.
inline constexpr double kSamplesBytes = 64e6;

// The virtual table `samples`, as SQL declares its columns.
inline constexpr std::string_view kSamplesColumns =
    "time_s REAL, metric TEXT, labels TEXT, value REAL";
// Registers the virtual table `samples` over `runs`, which must outlive the connection.
Status add_samples_table(sqlite3* database, const QueriedRuns& runs,
                         double held_bytes = kSamplesBytes);

// The queries of store.h over any runs.
Status query_runs(const QueriedRuns& runs, const std::string& query, const SqlOutput& output,
                  int64_t most_filled);

}  // namespace trainscope
