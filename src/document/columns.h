// Series over time as compact binary columns (TSC1, docs/web-api.md), for charts.
//
// Guarantees: decimated columns have the smallest and the largest of each window, so every spike is
// in them; few samples are given as they are. Counters are read as rates. Memory grows with the
// points that are asked for, not with the run. Limits: where the number of values is too large for
// a quick answer, windows may be wider than asked for (the header states their width).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "document/overviews.h"
#include "model/model.h"

namespace trainscope {

struct ColumnsQuery {
  std::vector<size_t> series = {};  // places in RunView::series(), which are those of `info`
  // Nothing: from t = 0, to the end of the run.
  std::optional<double> from_s = std::nullopt, to_s = std::nullopt;
  size_t points = 1000;  // windows at most; twice as many samples are not decimated
  double smooth_s = 0;   // width of a centred moving mean, computed before decimation; 0: none
  // One more array: how many values each is the mean of; of a rate, of how many seconds.
  bool has_weights = false;
};
inline constexpr size_t kMostColumns = 64;
inline constexpr size_t kFewestPoints = 2, kMostPoints = 4000;

// An Error states what is wrong with the query.
Status check_columns_query(const RunView& run, const ColumnsQuery& query);
// An Error also names a file that cannot be read.
Result<std::string> columns_document(const RunView& run, const ColumnsQuery& query,
                                     Overviews& overviews);

// The number of steps that had been done, over time: every k-th step, at most `points`.
Result<std::string> steps_columns(const RunView& run, size_t points);

// How a series is read, and the unit of what is shown: a counter per second.
Reading reading_of(const Series& series);
std::string shown_unit(const Series& series);

}  // namespace trainscope
