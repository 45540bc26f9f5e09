// Series reduced to windows of time: from the statistics of blocks that are within one window, from
// the values of the others.
#include <algorithm>
#include <cmath>
#include <limits>

#include "store/read/series_reader.h"

namespace trainscope {

namespace {

constexpr double kEver = std::numeric_limits<double>::infinity();

class WindowReader {
 public:
  WindowReader(const StoredStream& stream, ColumnCache& cache, const TimeWindows& windows)
      : stream_(stream), cache_(cache), windows_(windows) {}

  void add(const StoredSeries& series, Reading reading, WindowFold& fold) {
    wanted_.push_back({&series, reading, &fold});
  }

  // Blocks that begin within `part`.
  Status read(const FoldPart& part) {
    size_t window = 0;
    for (const StoredBlock& block : stream_.blocks) {
      if (block.is_empty()) continue;
      const double from_s = stream_.time_s(block.first), to_s = stream_.time_s(block.last);
      if (to_s < windows_.begin_s || from_s < part.begin_s) continue;
      if (from_s > windows_.end_s() || from_s >= part.end_s) break;
      while (window + 1 < windows_.count && from_s >= windows_.edge_s(window + 1)) ++window;
      const bool is_last = window + 1 == windows_.count;
      const bool is_within =
          from_s >= windows_.edge_s(window) &&
          (is_last ? to_s <= windows_.end_s() : to_s < windows_.edge_s(window + 1));
      statistics_.clear();
      for (const Wanted& each : wanted_) TS_CHECK_OK(add_block(each, block, is_within));
    }
    return {};
  }

 private:
  struct Wanted {
    const StoredSeries* series;
    Reading reading;
    WindowFold* fold;
  };
  struct FrameStatistics {
    const ColumnsFrame* frame;
    std::vector<ColumnStatistics> columns;
  };

  Status add_block(const Wanted& wanted, const StoredBlock& block, bool is_within) {
    const StoredColumn* column = nullptr;
    size_t at = 0;
    const ColumnsFrame* const frame = wanted.series->find(block, column, at);
    if (frame == nullptr) return {};
    if (is_within) {
      const auto& columns = statistics_of(*frame);
      if (at < columns.size() && add_statistics(wanted, block, *column, columns[at])) return {};
    }
    return add_values(wanted, block, *frame, *column, at);
  }

  // Empty: the frame has none. A frame that cannot be read is an Error when its values are.
  const std::vector<ColumnStatistics>& statistics_of(const ColumnsFrame& frame) {
    for (const FrameStatistics& known : statistics_) {
      if (known.frame == &frame) return known.columns;
    }
    FrameStatistics& read = statistics_.emplace_back(FrameStatistics{&frame, {}});
    std::string buffer;
    const auto payload = frame.place.payload(buffer);
    if (!payload) return read.columns;
    auto header = decode_columns_header(*payload, frame.place.flags, frame.schema->totals);
    if (header) read.columns = std::move(header->statistics);
    return read.columns;
  }

  // False: they do not tell.
  bool add_statistics(const Wanted& wanted, const StoredBlock& block, const StoredColumn& column,
                      const ColumnStatistics& statistics) {
    const bool is_whole = block.begin == 0 && block.end == block.rows;
    if (!is_whole || column.is_double) return false;
    if (statistics.present == 0) return true;
    if (statistics.present != block.rows) return false;
    const bool is_counter = column.kind == Kind::counter;
    if (is_counter != (wanted.reading == Reading::rate)) return false;
    if (is_counter && wanted.fold->has_extremes())
      return false;  // of a block's rates only the mean
    const ColumnSummary summary = summarize_statistics(statistics, column);
    const auto grown =
        static_cast<uint64_t>(statistics.last) - static_cast<uint64_t>(statistics.first);
    if (is_counter && (statistics.last < statistics.first || statistics.total != grown)) {
      return false;  // it was reset
    }
    wanted.fold->add(
        FoldedValues{stream_.time_s(block.first), stream_.time_s(block.last),
                     column.scale.apply(statistics.first), column.scale.apply(statistics.last),
                     static_cast<double>(summary.sum), static_cast<double>(statistics.present),
                     summary.min, summary.max});
    return true;
  }

  // Values outside of all windows do not count.
  Status add_values(const Wanted& wanted, const StoredBlock& block, const ColumnsFrame& frame,
                    const StoredColumn& column, size_t at) {
    const BlockRows rows{&block, block.begin, block.end};
    if (times_of_ != &block) TS_CHECK_OK(read_times(stream_, cache_, rows, points_.time_s));
    times_of_ = &block;
    raw_.resize(block.rows);
    TS_CHECK_OK(cache_.read(frame, at, raw_));
    points_.value.resize(rows.count());
    points_.present.resize(rows.count());
    set_values(column, std::span(raw_).subspan(rows.from, rows.count()), points_.value,
               points_.present);
    const double begin_s = windows_.begin_s, end_s = windows_.end_s();
    const bool is_cut = points_.time_s.front() < begin_s || points_.time_s.back() > end_s;
    for (size_t i = 0; is_cut && i < rows.count(); ++i) {
      if (points_.time_s[i] < begin_s || points_.time_s[i] > end_s) points_.present[i] = 0;
    }
    wanted.fold->add(points_);
    return {};
  }

  const StoredStream& stream_;
  ColumnCache& cache_;
  const TimeWindows windows_;
  std::vector<Wanted> wanted_;
  std::vector<FrameStatistics> statistics_;  // of the block that is being read
  std::vector<int64_t> raw_;
  const StoredBlock* times_of_ = nullptr;  // the block whose times points_ has
  Points points_;
};

// When the blocks of a stream begin that have rows in the windows.
std::vector<double> block_begins(const StoredStream& stream, const TimeWindows& windows) {
  std::vector<double> begins_s;
  for (const StoredBlock& block : stream.blocks) {
    if (block.is_empty() || stream.time_s(block.last) < windows.begin_s) continue;
    if (stream.time_s(block.first) > windows.end_s()) break;
    begins_s.push_back(stream.time_s(block.first));
  }
  return begins_s;
}

// The end of the last row of all blocks that begin within the part.
double last_row_of(const RunIndex& index, const FoldPart& part) {
  double last_s = part.end_s;
  if (!std::isfinite(last_s)) return last_s;
  for (const auto& [number, stream] : index.streams) {
    for (const StoredBlock& block : stream.blocks) {
      if (block.is_empty() || stream.time_s(block.first) < part.begin_s) continue;
      if (stream.time_s(block.first) >= part.end_s) break;
      last_s = std::max(last_s, stream.time_s(block.last));
    }
  }
  return last_s;
}

size_t window_at(const TimeWindows& windows, double time_s) {
  const double place = std::floor((time_s - windows.begin_s) / windows.length_s);
  return static_cast<size_t>(std::clamp(place, 0.0, static_cast<double>(windows.count - 1)));
}

}  // namespace

FoldPart whole_fold(const TimeWindows& windows) { return {-kEver, kEver, windows, 0}; }

std::vector<FoldPart> split_fold(const RunIndex& index, const TimeWindows& windows) {
  constexpr size_t kMostParts = 8, kLeastBlocks = 16;  // the same on every machine: so are the sums
  std::vector<double> begins_s;                        // of the stream that has most of them
  for (const auto& [number, stream] : index.streams) {
    std::vector<double> begins = block_begins(stream, windows);
    if (begins.size() > begins_s.size()) begins_s = std::move(begins);
  }
  const size_t count = std::clamp<size_t>(begins_s.size() / kLeastBlocks, 1, kMostParts);
  if (count == 1) return {whole_fold(windows)};
  std::vector<FoldPart> parts;
  for (size_t k = 0; k < count; ++k) {
    FoldPart part;
    part.begin_s = k == 0 ? -kEver : begins_s[k * begins_s.size() / count];
    part.end_s = k + 1 == count ? kEver : begins_s[(k + 1) * begins_s.size() / count];
    // One more on each side: edges are computed from another beginning, and rounded.
    const size_t first = window_at(windows, part.begin_s);
    const size_t last = window_at(windows, last_row_of(index, part)) + 1;
    part.first_window = first > 0 ? first - 1 : 0;
    part.windows = {windows.edge_s(part.first_window), windows.length_s,
                    last - part.first_window + 1};
    parts.push_back(part);
  }
  return parts;
}

Status fold_windows(const RunIndex& index, ColumnCache& cache, const TimeWindows& windows,
                    std::span<const StoredWindowQuery> queries, const FoldPart& part) {
  std::map<uint64_t, WindowReader> readers;
  for (const StoredWindowQuery& query : queries) {
    const uint64_t number = query.series->streams.front();
    const auto stream = index.streams.find(number);
    if (stream == index.streams.end()) continue;
    readers.try_emplace(number, stream->second, cache, windows)
        .first->second.add(*query.series, query.reading, *query.fold);
  }
  for (auto& [number, reader] : readers) TS_CHECK_OK(reader.read(part));
  return {};
}

}  // namespace trainscope
