#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>

#include "store/read/series_reader.h"

namespace trainscope {

namespace {

constexpr size_t kBlocksPerRange = 4;

// Reads series of one stream, block by block.
class StreamReader {
 public:
  StreamReader(const StoredStream& stream, ColumnCache& cache) : stream_(stream), cache_(cache) {}

  void add(const StoredSeries& series, Points& points) { wanted_.push_back({&series, &points}); }

  Status read(const Range& range, bool one_before) {
    TS_TRY(StreamRows rows, find_rows(stream_, cache_, range));
    if (one_before && rows.before) rows.blocks.insert(rows.blocks.begin(), *rows.before);
    reserve(rows.blocks);
    for (const BlockRows& each : rows.blocks) TS_CHECK_OK(add_rows(each));
    return {};
  }

 private:
  struct Wanted {
    const StoredSeries* series;
    Points* points;
  };

  void reserve(const std::vector<BlockRows>& blocks) {
    size_t rows = 0;
    for (const BlockRows& each : blocks) rows += each.count();
    for (const Wanted& each : wanted_) {
      each.points->time_s.reserve(rows);
      each.points->value.reserve(rows);
      each.points->present.reserve(rows);
    }
  }

  // These rows of a block, for all series.
  Status add_rows(const BlockRows& rows) {
    const StoredBlock& block = *rows.block;
    TS_CHECK_OK(read_times(stream_, cache_, rows, times_));
    raw_.resize(block.rows);
    for (const Wanted& each : wanted_) {
      Points& points = *each.points;
      const size_t begin = points.time_s.size();
      points.time_s.insert(points.time_s.end(), times_.begin(), times_.end());
      points.value.resize(begin + rows.count());
      points.present.resize(begin + rows.count());
      const StoredColumn* column = nullptr;
      size_t at = 0;
      const ColumnsFrame* frame = each.series->find(block, column, at);
      if (frame == nullptr) continue;
      TS_CHECK_OK(cache_.read(*frame, at, raw_));
      set_values(*column, std::span(raw_).subspan(rows.from, rows.count()),
                 std::span(points.value).subspan(begin), std::span(points.present).subspan(begin));
    }
    return {};
  }

  const StoredStream& stream_;
  ColumnCache& cache_;
  std::vector<Wanted> wanted_;
  std::vector<double> times_;
  std::vector<int64_t> raw_;
};

// A series that changed its stream has rows of both: in order of time, and where both have a row
// the one with a value.
Points in_order(const Points& points) {
  std::vector<size_t> order(points.time_s.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return points.time_s[a] < points.time_s[b]; });
  Points sorted;
  for (const size_t i : order) {
    const bool again = !sorted.time_s.empty() && sorted.time_s.back() == points.time_s[i];
    if (again && sorted.present.back() != 0) continue;
    if (!again) {
      sorted.time_s.push_back(points.time_s[i]);
      sorted.value.push_back(points.value[i]);
      sorted.present.push_back(points.present[i]);
    } else {
      sorted.value.back() = points.value[i];
      sorted.present.back() = points.present[i];
    }
  }
  return sorted;
}

// The last row before these that counts, or nothing if they are the first.
std::optional<BlockRows> row_before(const StoredStream& stream, const BlockRows& rows) {
  if (rows.from > rows.block->begin) return BlockRows{rows.block, rows.from - 1, rows.from};
  for (const StoredBlock* block = rows.block; block != stream.blocks.data();) {
    --block;
    if (!block->is_empty()) return BlockRows{block, block->end - 1, block->end};
  }
  return std::nullopt;
}

}  // namespace

Status read_times(const StoredStream& stream, ColumnCache& cache, const BlockRows& rows,
                  std::vector<double>& times) {
  TS_TRY(const ColumnCache::Rows all, cache.times(*rows.block));
  times.resize(rows.count());
  for (size_t r = 0; r < times.size(); ++r) times[r] = stream.time_s((*all)[rows.from + r]);
  return {};
}

Result<StreamRows> find_rows(const StoredStream& stream, ColumnCache& cache, const Range& range) {
  const double begin_s = range.begin_s.value_or(-std::numeric_limits<double>::infinity());
  const double end_s = range.end_s.value_or(std::numeric_limits<double>::infinity());
  const auto first = std::partition_point(
      stream.blocks.begin(), stream.blocks.end(),
      [&](const StoredBlock& block) { return stream.time_s(block.last) < begin_s; });
  StreamRows found;
  for (auto block = first; block != stream.blocks.end(); ++block) {
    if (block->is_empty()) continue;
    if (stream.time_s(block->first) >= end_s) break;
    BlockRows rows{&*block, block->begin, block->end};
    if (stream.time_s(block->first) < begin_s || stream.time_s(block->last) >= end_s) {
      TS_TRY(const ColumnCache::Rows times, cache.times(*block));
      while (rows.from < rows.to && stream.time_s((*times)[rows.from]) < begin_s) ++rows.from;
      while (rows.to > rows.from && stream.time_s((*times)[rows.to - 1]) >= end_s) --rows.to;
    }
    found.blocks.push_back(rows);
  }
  if (!found.blocks.empty()) found.before = row_before(stream, found.blocks.front());
  return found;
}

// Most of the time of a query goes here. Many columns seldom change, and dividing takes longer than
// comparing.
void set_values(const StoredColumn& column, std::span<const int64_t> raw, std::span<double> values,
                std::span<char> present) {
  if (column.is_double) {
    for (size_t r = 0; r < raw.size(); ++r) {
      const auto value = column.value(raw[r]);
      values[r] = value.value_or(0);
      present[r] = value ? 1 : 0;
    }
    return;
  }
  const Scale scale = column.scale;
  int64_t last = kAbsent;
  double value = 0;
  if (!raw.empty() &&
      std::memcmp(raw.data(), raw.data() + 1, raw.size_bytes() - sizeof(last)) == 0) {
    last = raw[0];
    std::fill(values.begin(), values.end(), last == kAbsent ? 0 : scale.apply(last));
    std::fill(present.begin(), present.end(), static_cast<char>(last == kAbsent ? 0 : 1));
    return;
  }
  for (size_t r = 0; r < raw.size(); ++r) {
    if (raw[r] != last) {
      last = raw[r];
      value = last == kAbsent ? 0 : scale.apply(last);
    }
    values[r] = value;
    present[r] = last == kAbsent ? 0 : 1;
  }
}

void append_points(Points& all, const Points& more) {
  all.time_s.insert(all.time_s.end(), more.time_s.begin(), more.time_s.end());
  all.value.insert(all.value.end(), more.value.begin(), more.value.end());
  all.present.insert(all.present.end(), more.present.begin(), more.present.end());
}

Result<std::vector<Points>> read_points(const RunIndex& index, ColumnCache& cache,
                                        std::span<const StoredSeries* const> series,
                                        const Range& range, bool one_before) {
  std::vector<Points> all(series.size());
  std::map<uint64_t, StreamReader> readers;
  // Of a series with several streams the points of the others, which come after those of the first.
  std::vector<std::vector<Points>> others(series.size());
  for (size_t i = 0; i < series.size(); ++i) {
    const std::vector<uint64_t>& streams = series[i]->streams;
    if (streams.size() > 1) others[i].resize(streams.size() - 1);
    for (size_t s = 0; s < streams.size(); ++s) {
      const auto stream = index.streams.find(streams[s]);
      if (stream == index.streams.end()) continue;
      const auto reader = readers.try_emplace(streams[s], stream->second, cache).first;
      reader->second.add(*series[i], s == 0 ? all[i] : others[i][s - 1]);
    }
  }
  for (auto& [stream, reader] : readers) TS_CHECK_OK(reader.read(range, one_before));
  for (size_t i = 0; i < series.size(); ++i) {
    if (others[i].empty()) continue;
    for (const Points& more : others[i]) append_points(all[i], more);
    all[i] = in_order(all[i]);
  }
  return all;
}

namespace {

void add_begins(const StoredStream& stream, std::vector<double>& begins_s) {
  for (const StoredBlock& block : stream.blocks) {
    if (!block.is_empty()) begins_s.push_back(stream.time_s(block.first));
  }
}

// `begins_s`: of blocks, in order.
std::vector<Range> split_at(const std::vector<double>& begins_s, const Range& range) {
  std::vector<Range> ranges = {range};
  size_t blocks = 0;
  for (const double begin_s : begins_s) {
    const auto& from_s = ranges.back().begin_s;
    if (from_s && begin_s <= *from_s) continue;
    if (range.end_s && begin_s >= *range.end_s) break;
    if (++blocks % kBlocksPerRange != 0) continue;
    ranges.back().end_s = begin_s;
    ranges.push_back({begin_s, range.end_s});
  }
  return ranges;
}

}  // namespace

std::vector<Range> split_by_blocks(const RunIndex& index, uint64_t stream, const Range& range) {
  std::vector<double> begins_s;
  const auto found = index.streams.find(stream);
  if (found != index.streams.end()) add_begins(found->second, begins_s);
  return split_at(begins_s, range);
}

std::vector<Range> split_by_blocks(const RunIndex& index, const Range& range) {
  std::vector<double> begins_s;
  for (const auto& [number, stream] : index.streams) add_begins(stream, begins_s);
  std::sort(begins_s.begin(), begins_s.end());
  return split_at(begins_s, range);
}

Series lateness_series() {
  Series series;
  series.metric = "recorder.lateness";
  series.labels = {{"process", "recorder"}};
  series.unit = "s";
  return series;
}

Result<Points> read_lateness(const RunIndex& index, ColumnCache& cache, const Range& range) {
  Points points;
  const auto stream = index.streams.find(0);
  if (stream == index.streams.end()) return points;
  TS_TRY(const StreamRows rows, find_rows(stream->second, cache, range));
  for (const BlockRows& each : rows.blocks) {
    TS_TRY(const ColumnCache::Rows times, cache.times(*each.block));
    for (size_t r = each.from; r < each.to; ++r) {
      points.time_s.push_back(stream->second.time_s((*times)[r]));
      points.value.push_back(static_cast<double>((*times)[r].late_us) / 1e6);
      points.present.push_back(1);
    }
  }
  return points;
}

}  // namespace trainscope
