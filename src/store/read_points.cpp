#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "store/series_reader.h"

namespace trainscope {

namespace {

constexpr size_t kBlocksPerRange = 4;

// Values of a column into points, from the point `at` on. Most of the time of a query goes here.
void set_values(const StoredColumn& column, std::span<const int64_t> raw, Points& points,
                size_t at) {
  double* values = points.value.data() + at;
  char* present = points.present.data() + at;
  for (size_t r = 0; r < raw.size(); ++r) {
    if (column.is_double) {
      const auto value = column.value(raw[r]);
      values[r] = value.value_or(0);
      present[r] = value ? 1 : 0;
    } else if (raw[r] != kAbsent) {
      values[r] = column.scale.apply(raw[r]);
      present[r] = 1;
    }
  }
}

// Reads series of one stream, block by block.
class StreamReader {
 public:
  StreamReader(const StoredStream& stream, ColumnCache& cache, const Range& range)
      : stream_(stream),
        cache_(cache),
        begin_s_(range.begin_s.value_or(-std::numeric_limits<double>::infinity())),
        end_s_(range.end_s.value_or(std::numeric_limits<double>::infinity())) {}

  void add(const StoredSeries& series, Points& points) { wanted_.push_back({&series, &points}); }

  Status read(bool one_before) {
    bool started = !one_before;
    const StoredBlock* previous = nullptr;
    for (const StoredBlock& block : stream_.blocks) {
      if (block.is_empty()) continue;
      if (stream_.time_s(block.first) >= end_s_) break;
      if (stream_.time_s(block.last) < begin_s_) {
        previous = &block;
        continue;
      }
      TS_TRY(const ColumnCache::Rows rows, cache_.times(block));
      size_t from = block.begin;
      while (from < block.end && stream_.time_s((*rows)[from]) < begin_s_) ++from;
      size_t to = block.end;
      while (to > from && stream_.time_s((*rows)[to - 1]) >= end_s_) --to;
      if (!started && from == block.begin && previous != nullptr) {
        TS_CHECK_OK(add_rows(*previous, previous->end - 1, previous->end));
      } else if (!started && from > block.begin) {
        --from;
      }
      started = true;
      TS_CHECK_OK(add_rows(block, from, to));
    }
    return {};
  }

 private:
  struct Wanted {
    const StoredSeries* series;
    Points* points;
  };

  // These rows of a block, for all series.
  Status add_rows(const StoredBlock& block, size_t from, size_t to) {
    TS_TRY(const ColumnCache::Rows rows, cache_.times(block));
    times_.resize(to - from);
    for (size_t r = from; r < to; ++r) times_[r - from] = stream_.time_s((*rows)[r]);
    raw_.resize(block.rows);
    for (const Wanted& each : wanted_) {
      Points& points = *each.points;
      const size_t begin = points.time_s.size();
      points.time_s.insert(points.time_s.end(), times_.begin(), times_.end());
      points.value.resize(begin + times_.size());
      points.present.resize(begin + times_.size());
      const StoredColumn* column = nullptr;
      size_t at = 0;
      const ColumnsFrame* frame = each.series->find(block, column, at);
      if (frame == nullptr) continue;
      TS_CHECK_OK(cache_.read(*frame, at, raw_));
      set_values(*column, std::span(raw_).subspan(from, to - from), points, begin);
    }
    return {};
  }

  const StoredStream& stream_;
  ColumnCache& cache_;
  const double begin_s_, end_s_;
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

void append_points(Points& all, const Points& more) {
  all.time_s.insert(all.time_s.end(), more.time_s.begin(), more.time_s.end());
  all.value.insert(all.value.end(), more.value.begin(), more.value.end());
  all.present.insert(all.present.end(), more.present.begin(), more.present.end());
}

}  // namespace

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
      const auto reader = readers.try_emplace(streams[s], stream->second, cache, range).first;
      reader->second.add(*series[i], s == 0 ? all[i] : others[i][s - 1]);
    }
  }
  for (auto& [stream, reader] : readers) TS_CHECK_OK(reader.read(one_before));
  for (size_t i = 0; i < series.size(); ++i) {
    if (others[i].empty()) continue;
    for (const Points& more : others[i]) append_points(all[i], more);
    all[i] = in_order(all[i]);
  }
  return all;
}

std::vector<Range> split_by_blocks(const RunIndex& index, uint64_t stream, const Range& range) {
  std::vector<Range> ranges = {range};
  const auto found = index.streams.find(stream);
  if (found == index.streams.end()) return ranges;
  size_t blocks = 0;
  for (const StoredBlock& block : found->second.blocks) {
    const double begin_s = found->second.time_s(block.first);
    const auto& from_s = ranges.back().begin_s;
    if (block.is_empty() || (from_s && begin_s <= *from_s)) continue;
    if (range.end_s && begin_s >= *range.end_s) break;
    if (++blocks % kBlocksPerRange != 0) continue;
    ranges.back().end_s = begin_s;
    ranges.push_back({begin_s, range.end_s});
  }
  return ranges;
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
  for (const StoredBlock& block : stream->second.blocks) {
    if (block.is_empty()) continue;
    if (range.begin_s && stream->second.time_s(block.last) < *range.begin_s) continue;
    if (range.end_s && stream->second.time_s(block.first) >= *range.end_s) break;
    TS_TRY(const ColumnCache::Rows rows, cache.times(block));
    for (size_t r = block.begin; r < block.end; ++r) {
      const double time_s = stream->second.time_s((*rows)[r]);
      if (range.begin_s && time_s < *range.begin_s) continue;
      if (range.end_s && time_s >= *range.end_s) return points;
      points.time_s.push_back(time_s);
      points.value.push_back(static_cast<double>((*rows)[r].late_us) / 1e6);
      points.present.push_back(1);
    }
  }
  return points;
}

}  // namespace trainscope
