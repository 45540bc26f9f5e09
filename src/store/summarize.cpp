#include <algorithm>

#include "store/frame.h"
#include "store/series_reader.h"

namespace trainscope {

namespace {

// One block's share of a summary. The sums are wider than a double and differences are taken of raw
// integers: the increase of a counter is exact.
struct Part {
  const StoredColumn* column = nullptr;
  uint64_t present = 0;
  int64_t first = 0, last = 0;  // raw
  double min = 0, max = 0;
  long double increase = 0, sum = 0;
};

long double scaled(long double raw, const Scale& scale) {
  return raw * static_cast<long double>(scale.numerator) /
         static_cast<long double>(scale.denominator);
}

// From one raw value to a later one; a decrease is a reset and counts nothing.
long double increase_between(const StoredColumn& column_a, int64_t a, const StoredColumn& column_b,
                             int64_t b) {
  if (!column_a.is_double && !column_b.is_double && column_a.scale == column_b.scale) {
    if (b <= a) return 0;
    return scaled(static_cast<long double>(static_cast<uint64_t>(b) - static_cast<uint64_t>(a)),
                  column_a.scale);
  }
  const double from = column_a.value(a).value_or(0), to = column_b.value(b).value_or(0);
  return to > from ? static_cast<long double>(to) - static_cast<long double>(from) : 0;
}

Part from_statistics(const ColumnStatistics& s, const StoredColumn& column) {
  Part part;
  part.column = &column;
  part.present = s.present;
  if (s.present == 0) return part;
  part.first = s.first;
  part.last = s.last;
  part.min = column.scale.apply(s.min);
  part.max = column.scale.apply(s.max);
  if (column.kind == Kind::counter) {
    part.increase = scaled(static_cast<long double>(s.total), column.scale);
  } else {
    part.sum = scaled(static_cast<long double>(s.min) * static_cast<long double>(s.present) +
                          static_cast<long double>(s.total),
                      column.scale);
  }
  return part;
}

Part from_values(std::span<const int64_t> raw, const StoredColumn& column) {
  Part part;
  part.column = &column;
  for (const int64_t number : raw) {
    const auto value = column.value(number);
    if (!value) continue;
    if (part.present++ == 0) {
      part.first = number;
      part.min = part.max = *value;
    } else {
      part.increase += increase_between(column, part.last, column, number);
    }
    part.last = number;
    part.min = std::min(part.min, *value);
    part.max = std::max(part.max, *value);
    part.sum += column.is_double ? static_cast<long double>(*value)
                                 : scaled(static_cast<long double>(number), column.scale);
  }
  return part;
}

class Summarizer {
 public:
  Summarizer(const RunIndex& index, ColumnCache& cache, const StoredSeries& series)
      : index_(index), cache_(cache), series_(series) {}

  Result<Summary> run() {
    for (const uint64_t number : series_.streams) {
      const auto stream = index_.streams.find(number);
      if (stream == index_.streams.end()) continue;
      for (const StoredBlock& block : stream->second.blocks) {
        if (block.begin < block.end) TS_CHECK_OK(add_block(stream->second, block));
      }
    }
    TS_CHECK_OK(find_times());
    add_closing();
    return finish();
  }

 private:
  // A block in which the first or the last value is, for the time of it.
  struct Place {
    const StoredStream* stream = nullptr;
    const StoredBlock* block = nullptr;
    bool full = false;
  };

  Status add_block(const StoredStream& stream, const StoredBlock& block) {
    const StoredColumn* column = nullptr;
    size_t at = 0;
    const ColumnsFrame* frame = series_.find(block, column, at);
    if (frame == nullptr) return {};
    Part part;
    bool known = false;
    if (block.whole() && !column->is_double && (frame->flags & kFrameStatistics) != 0) {
      TS_TRY(const ColumnsHeader header,
             decode_columns_header(frame->payload, frame->flags, frame->schema->totals));
      const ColumnStatistics& statistics = header.statistics[at];
      known = statistics.present <= block.rows.size();
      if (known) part = from_statistics(statistics, *column);
    }
    if (!known) {
      raw_.resize(block.rows.size());
      TS_CHECK_OK(cache_.read(*frame, at, raw_));
      part = from_values(std::span(raw_).subspan(block.begin, block.end - block.begin), *column);
    }
    if (part.present > 0) add(part, {&stream, &block, part.present == block.rows.size()});
    return {};
  }

  void add(const Part& part, const Place& place) {
    if (all_.present == 0) {
      all_ = part;
      first_ = place;
    } else {
      all_.increase += increase_between(*all_.column, all_.last, *part.column, part.first);
      all_.present += part.present;
      all_.column = part.column;
      all_.last = part.last;
      all_.min = std::min(all_.min, part.min);
      all_.max = std::max(all_.max, part.max);
      all_.increase += part.increase;
      all_.sum += part.sum;
    }
    last_ = place;
  }

  Status find_times() {
    if (all_.present == 0) return {};
    TS_TRY(begin_s_, time_of(first_, true));
    TS_TRY(end_s_, time_of(last_, false));
    return {};
  }

  Result<double> time_of(const Place& place, bool first) {
    const StoredBlock& block = *place.block;
    size_t row = first ? block.begin : block.end - 1;
    if (!place.full) {
      const StoredColumn* column = nullptr;
      size_t at = 0;
      const ColumnsFrame* frame = series_.find(block, column, at);
      raw_.resize(block.rows.size());
      TS_CHECK_OK(cache_.read(*frame, at, raw_));
      const auto absent = [&](size_t r) { return !column->value(raw_[r]); };
      while (first && row + 1 < block.end && absent(row)) ++row;
      while (!first && row > block.begin && absent(row)) --row;
    }
    return place.stream->time_s(block.rows[row]);
  }

  // Closing values are no samples: they only say where a series ended.
  void add_closing() {
    for (const SeriesPart& part : series_.parts) {
      const auto found = index_.closings.find(part.schema->number);
      if (found == index_.closings.end()) continue;
      const StoredColumn& column = part.schema->columns[part.column];
      const int64_t raw = found->second.values[part.column];
      const auto value = column.value(raw);
      if (!value || (all_.present > 0 && found->second.time_s < end_s_)) continue;
      if (all_.column != nullptr) {
        all_.increase += increase_between(*all_.column, all_.last, column, raw);
      }
      all_.column = &column;
      all_.last = raw;
      all_.max = all_.present > 0 ? std::max(all_.max, *value) : *value;
      end_s_ = found->second.time_s;
      closed_ = true;
    }
  }

  Summary finish() const {
    Summary summary;
    summary.samples = static_cast<int64_t>(all_.present);
    if (all_.present == 0 && !closed_) return summary;
    summary.last = all_.column->value(all_.last);
    summary.max = all_.max;
    if (all_.present == 0) return summary;
    summary.min = all_.min;
    if (series_.series.kind != Kind::counter) {
      summary.mean = static_cast<double>(all_.sum / static_cast<long double>(all_.present));
    } else if (all_.present > 1 || closed_) {
      summary.delta = static_cast<double>(all_.increase);
      if (end_s_ > begin_s_) summary.rate = *summary.delta / (end_s_ - begin_s_);
    }
    return summary;
  }

  const RunIndex& index_;
  ColumnCache& cache_;
  const StoredSeries& series_;
  Part all_;
  Place first_, last_;
  double begin_s_ = 0, end_s_ = 0;
  bool closed_ = false;
  std::vector<int64_t> raw_;
};

}  // namespace

Result<Summary> summarize(const RunIndex& index, ColumnCache& cache, const StoredSeries& series) {
  return Summarizer(index, cache, series).run();
}

Summary summarize_points(const Points& points, Kind kind) {
  Summary summary;
  long double sum = 0;
  for (size_t i = 0; i < points.time_s.size(); ++i) {
    if (points.present[i] == 0) continue;
    const double value = points.value[i];
    sum += static_cast<long double>(value);
    summary.min = std::min(summary.min.value_or(value), value);
    summary.max = std::max(summary.max.value_or(value), value);
    summary.last = value;
    ++summary.samples;
  }
  if (summary.samples == 0) return summary;
  if (kind != Kind::counter) {
    summary.mean = static_cast<double>(sum / static_cast<long double>(summary.samples));
    return summary;
  }
  summary.delta = *summary.max - *summary.min;
  const double elapsed_s = points.time_s.back() - points.time_s.front();
  if (elapsed_s > 0) summary.rate = *summary.delta / elapsed_s;
  return summary;
}

}  // namespace trainscope
