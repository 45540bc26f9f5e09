// Values of one stored series: its points in a range of time, or what `info` says of it.
#pragma once

#include "base/result.h"
#include "model/model.h"
#include "store/column_cache.h"
#include "store/run_index.h"
#include "store/series_directory.h"

namespace trainscope {

// Every row of the series' stream with begin <= time < end; rows without a value are there, not
// present. With `one_before` also the row in front of the first: rates need it.
Result<Points> read_points(const RunIndex& index, ColumnCache& cache, const StoredSeries& series,
                           const Range& range, bool one_before);

// recorder.lateness: how late each tick began. It stands in the times of the rows, not in a column.
Series lateness_series();
Points read_lateness(const RunIndex& index, const Range& range);

// From the statistics of whole blocks and the values of the others, and from the closing values.
Result<Summary> summarize(const RunIndex& index, ColumnCache& cache, const StoredSeries& series);

// The same of points, for series that are not stored: min, max, last, and the mean or, of a
// counter, how much and how fast it grew.
Summary summarize_points(const Points& points, Kind kind);

}  // namespace trainscope
