// Values of stored series: points in a range of time, or what `info` shows of a series.
#pragma once

#include <span>

#include "base/result.h"
#include "model/model.h"
#include "store/column_cache.h"
#include "store/run_index.h"
#include "store/series_directory.h"

namespace trainscope {

// Every row of a series' stream with begin <= time < end, for each of the series; rows without a
// value are there, not present. With `one_before` also the row before the first: rates need it. All
// series are read block by block together, so each block is decoded once.
Result<std::vector<Points>> read_points(const RunIndex& index, ColumnCache& cache,
                                        std::span<const StoredSeries* const> series,
                                        const Range& range, bool one_before);

// recorder.lateness: how late each tick began. It is in the times of the rows, not in a column.
Series lateness_series();
Result<Points> read_lateness(const RunIndex& index, ColumnCache& cache, const Range& range);

// Ranges of time that follow each other and together are all of a stream within `range`, each of
// them a few blocks: what is computed from many series is computed range by range, which takes
// little memory and decodes each block once.
std::vector<Range> split_by_blocks(const RunIndex& index, uint64_t stream, const Range& range);

// From the statistics of whole blocks and the values of the others, which the index has put
// together, and from the closing values.
Result<Summary> summarize(const RunIndex& index, ColumnCache& cache, const StoredSeries& series);
// A series without a single value. Values are read only where statistics do not tell.
bool has_values(const RunIndex& index, ColumnCache& cache, const StoredSeries& series);

}  // namespace trainscope
