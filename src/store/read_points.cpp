#include <algorithm>
#include <limits>
#include <numeric>

#include "store/series_reader.h"

namespace trainscope {

namespace {

class PointsReader {
 public:
  PointsReader(ColumnCache& cache, const StoredSeries& series, const Range& range, bool one_before)
      : cache_(cache),
        series_(series),
        begin_s_(range.begin_s.value_or(-std::numeric_limits<double>::infinity())),
        end_s_(range.end_s.value_or(std::numeric_limits<double>::infinity())),
        one_before_(one_before) {}

  Status add_stream(const StoredStream& stream) {
    bool started = !one_before_;
    const StoredBlock* previous = nullptr;
    for (const StoredBlock& block : stream.blocks) {
      if (block.begin == block.end) continue;
      if (stream.time_s(block.rows[block.begin]) >= end_s_) break;
      const bool reaches = stream.time_s(block.rows[block.end - 1]) >= begin_s_;
      if (!reaches) {
        previous = &block;
        continue;
      }
      size_t from = block.begin;
      while (from < block.end && stream.time_s(block.rows[from]) < begin_s_) ++from;
      size_t to = block.end;
      while (to > from && stream.time_s(block.rows[to - 1]) >= end_s_) --to;
      if (!started && from == block.begin && previous != nullptr) {
        TS_CHECK_OK(add_rows(stream, *previous, previous->end - 1, previous->end));
      } else if (!started && from > block.begin) {
        --from;
      }
      started = true;
      TS_CHECK_OK(add_rows(stream, block, from, to));
    }
    return {};
  }

  Points take() { return std::move(points_); }

 private:
  Status add_rows(const StoredStream& stream, const StoredBlock& block, size_t from, size_t to) {
    const StoredColumn* column = nullptr;
    size_t at = 0;
    const ColumnsFrame* frame = series_.find(block, column, at);
    if (frame != nullptr) {
      raw_.resize(block.rows.size());
      TS_CHECK_OK(cache_.read(*frame, at, raw_));
    }
    for (size_t r = from; r < to; ++r) {
      const auto value = frame == nullptr ? std::nullopt : column->value(raw_[r]);
      points_.time_s.push_back(stream.time_s(block.rows[r]));
      points_.value.push_back(value.value_or(0));
      points_.present.push_back(value ? 1 : 0);
    }
    return {};
  }

  ColumnCache& cache_;
  const StoredSeries& series_;
  const double begin_s_, end_s_;
  const bool one_before_;
  Points points_;
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

}  // namespace

Result<Points> read_points(const RunIndex& index, ColumnCache& cache, const StoredSeries& series,
                           const Range& range, bool one_before) {
  PointsReader reader(cache, series, range, one_before);
  for (const uint64_t number : series.streams) {
    const auto stream = index.streams.find(number);
    if (stream == index.streams.end()) continue;
    TS_CHECK_OK(reader.add_stream(stream->second));
  }
  if (series.streams.size() > 1) return in_order(reader.take());
  return reader.take();
}

Series lateness_series() {
  Series series;
  series.metric = "recorder.lateness";
  series.labels = {{"process", "recorder"}};
  series.unit = "s";
  return series;
}

Points read_lateness(const RunIndex& index, const Range& range) {
  Points points;
  const auto stream = index.streams.find(0);
  if (stream == index.streams.end()) return points;
  for (const StoredBlock& block : stream->second.blocks) {
    for (size_t r = block.begin; r < block.end; ++r) {
      const double time_s = stream->second.time_s(block.rows[r]);
      if (range.begin_s && time_s < *range.begin_s) continue;
      if (range.end_s && time_s >= *range.end_s) return points;
      points.time_s.push_back(time_s);
      points.value.push_back(static_cast<double>(block.rows[r].late_us) / 1e6);
      points.present.push_back(1);
    }
  }
  return points;
}

}  // namespace trainscope
