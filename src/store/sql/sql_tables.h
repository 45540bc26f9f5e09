// The SQL tables of runs besides `samples`: metrics, steps, phases, numbers, events, gaps.
//
// A table is filled when a query reads it. What a job reported may be too much for that: such a
// table is read from the run row by row, each time a query goes through it. A query that goes
// through it more than ten times, as a join may, is an Error that says what to do instead.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "model/training.h"
#include "store/sql/sql_runs.h"
#include "store/store.h"

struct sqlite3;

namespace trainscope {

using SqlRow = std::vector<SqlValue>;

struct RunTable {
  const char* name;
  const char* columns;
  const char* help;
  bool is_reported;  // it has about as many rows as the job sent reports
  std::unique_ptr<Reader<SqlRow>> (*read)(const RunView& run);
  bool is_of_group = false;  // a single run does not have it
};
std::span<const RunTable> run_tables();

// As SQL declares them.
std::string columns_of(const RunTable& table, const QueriedRuns& runs);
// The rows of all runs, one run after the other. Both arguments must outlive the reader.
std::unique_ptr<Reader<SqlRow>> read_rows(const RunTable& table, const QueriedRuns& runs);

// Empty tables, so that a query can be prepared.
Status create_run_tables(sqlite3* database, const QueriedRuns& runs);

// Makes the tables of these names readable. If the runs have more than `most_filled` reports,
// tables of reports are not filled: then a statement that was prepared before must be prepared
// again. `runs` must outlive the connection.
Status provide_run_tables(sqlite3* database, const QueriedRuns& runs,
                          const std::set<std::string>& names, int64_t most_filled);

// Replaces a table by a virtual one that reads its rows from the runs.
Status add_streamed_table(sqlite3* database, const RunTable& table, const QueriedRuns& runs);

}  // namespace trainscope
