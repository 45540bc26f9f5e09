// Values of stored series: points in a range of time, or what `info` shows of a series.
//
// Several series are always read together, block by block, so that each block is decompressed once
// and its memory is that of a block.
#pragma once

#include <functional>
#include <map>
#include <span>

#include "base/result.h"
#include "model/model.h"
#include "model/window_fold.h"
#include "store/read/column_cache.h"
#include "store/read/derived.h"
#include "store/read/run_index.h"
#include "store/read/series_directory.h"

namespace trainscope {

// Rows [from, to) of a block.
struct BlockRows {
  const StoredBlock* block = nullptr;
  size_t from = 0, to = 0;

  size_t count() const { return to - from; }
};

// The rows of a stream with begin <= time < end, and the row before them, which rates need.
struct StreamRows {
  std::optional<BlockRows> before;
  std::vector<BlockRows> blocks;
};
Result<StreamRows> find_rows(const StoredStream& stream, ColumnCache& cache, const Range& range);
Status read_times(const StoredStream& stream, ColumnCache& cache, const BlockRows& rows,
                  std::vector<double>& times);

// What follows in time.
void append_points(Points& all, const Points& more);

// The values of a column in some rows of a block that hold it. All spans are equally long.
void set_values(const StoredColumn& column, std::span<const int64_t> raw, std::span<double> values,
                std::span<char> present);

// Every row of a series' stream with begin <= time < end, for each of the series; rows without a
// value are there, not present. With `one_before` also the row before the first.
Result<std::vector<Points>> read_points(const RunIndex& index, ColumnCache& cache,
                                        std::span<const StoredSeries* const> series,
                                        const Range& range, bool one_before);

// recorder.lateness: how late each tick began. It is in the times of the rows, not in a column.
Series lateness_series();
Result<Points> read_lateness(const RunIndex& index, ColumnCache& cache, const Range& range);

// Ranges of time that follow each other and together are all of a stream within `range`, each of
// them a few blocks.
std::vector<Range> split_by_blocks(const RunIndex& index, uint64_t stream, const Range& range);
// The same of all streams together.
std::vector<Range> split_by_blocks(const RunIndex& index, const Range& range);

// Takes some points of a series, which is known by its place in the list that was asked for; they
// follow those that it was given before.
using TakePoints = std::function<void(size_t place, const Points& points)>;

// The values of derived series in a range of time, a block at a time. An absent series has none.
Status read_derived(const RunIndex& index, ColumnCache& cache, const SeriesDirectory& directory,
                    std::span<const DerivedSeries* const> series, const Range& range,
                    const TakePoints& take);

// A series of one stream that is reduced to windows of time.
struct StoredWindowQuery {
  const StoredSeries* series = nullptr;
  Reading reading = Reading::level;
  WindowFold* fold = nullptr;  // takes the values
};
// A part of the time of some windows: the blocks that begin in it, and the windows their rows are
// in. Parts can be folded at the same time and put together by WindowFold::append.
struct FoldPart {
  double begin_s = 0, end_s = 0;  // before its end
  TimeWindows windows;
  size_t first_window = 0;  // the number of its first window among all
};
FoldPart whole_fold(const TimeWindows& windows);
// In order of time; one if there are few blocks.
std::vector<FoldPart> split_fold(const RunIndex& index, const TimeWindows& windows);
// The folds take what is in `part`; `windows` are all.
Status fold_windows(const RunIndex& index, ColumnCache& cache, const TimeWindows& windows,
                    std::span<const StoredWindowQuery> queries, const FoldPart& part);

// From the statistics of whole blocks and the values of the others, which the index has put
// together, and from the closing values. One result per series.
std::vector<Result<Summary>> summarize(const RunIndex& index, ColumnCache& cache,
                                       std::span<const StoredSeries* const> series);
// A series without a single value. Values are read only if statistics do not decide.
bool has_values(const RunIndex& index, ColumnCache& cache, const StoredSeries& series);

}  // namespace trainscope
