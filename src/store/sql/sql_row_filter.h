// Which runs and series a query over `samples` reads.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "store/sql/sql_runs.h"

namespace trainscope {

// An open run with the texts of its labels.
struct LabelledRun {
  std::shared_ptr<const RunView> view;
  std::deque<std::string> labels;  // of the first series

  const std::string& labels_of(size_t series);
};

// The constraints of a query. SQLite still checks every row: they only narrow what is read.
struct RowFilter {
  std::optional<std::string> run, metric, labels;
  std::optional<int64_t> rank;
  Range range;

  std::vector<size_t> select_runs(const QueriedRuns& runs) const;
  std::vector<size_t> select_series(LabelledRun& run) const;
};

}  // namespace trainscope
