#include <algorithm>
#include <map>

#include "store/read/series_reader.h"

namespace trainscope {

namespace {

// What the index has of each schema of a series, in order of time; nothing when only the values
// tell: a block was not decoded, or two schemas have the series at the same time.
std::optional<std::vector<const ColumnSummary*>> known_parts(const RunIndex& index,
                                                             const StoredSeries& series) {
  if (series.streams.size() > 1) return std::nullopt;
  std::vector<std::pair<const SchemaSummary*, const ColumnSummary*>> parts;
  for (const SeriesPart& part : series.parts) {
    const auto found = index.summaries.find(part.schema->number);
    if (found == index.summaries.end() || !found->second.has_blocks()) continue;
    parts.emplace_back(&found->second, &found->second.columns[part.column]);
  }
  std::sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) {
    return a.first->first_block < b.first->first_block;
  });
  std::vector<const ColumnSummary*> summaries;
  for (size_t i = 0; i < parts.size(); ++i) {
    const bool overlaps = i > 0 && parts[i].first->first_block <= parts[i - 1].first->last_block;
    if (overlaps || parts[i].second->is_incomplete) return std::nullopt;
    summaries.push_back(parts[i].second);
  }
  return summaries;
}

// `raw` is a buffer for the values of a block, which many may share.
class Summarizer {
 public:
  Summarizer(const RunIndex& index, ColumnCache& cache, const StoredSeries& series,
             std::vector<int64_t>& raw)
      : index_(index), cache_(cache), series_(series), raw_(raw) {}

  // False: the values must be added, block by block.
  bool use_statistics() {
    const auto parts = known_parts(index_, series_);
    if (parts) add_known(*parts);
    return parts.has_value();
  }

  // The values of a block; in order of time within a stream.
  Status add_block(const StoredStream& stream, const StoredBlock& block) {
    const StoredColumn* column = nullptr;
    size_t at = 0;
    const ColumnsFrame* frame = block.is_empty() ? nullptr : series_.find(block, column, at);
    if (frame == nullptr) return {};
    raw_.resize(block.rows);
    TS_CHECK_OK(cache_.read(*frame, at, raw_));
    const auto counted = std::span(raw_).subspan(block.begin, block.end - block.begin);
    const ColumnSummary part = summarize_values(counted, *column);
    if (part.present == 0) return {};
    const ValueBlock place{&stream, &block, part.present == counted.size()};
    if (all_.present == 0) first_ = place;
    last_ = place;
    all_.add(part);
    return {};
  }

  bool has_any() const { return all_.present > 0; }

  // When the first and the last value were read. Only rates and closing values need it.
  Status find_begin() {
    if (needs_times()) {
      TS_TRY(begin_s_, time_of(first_, true));
    }
    return {};
  }
  Status find_end() {
    if (needs_times()) {
      TS_TRY(end_s_, time_of(last_, false));
    }
    return {};
  }

  Summary finish() {
    add_closing();
    return result();
  }

 private:
  // A block in which the first or the last value is, for the time of it.
  struct ValueBlock {
    const StoredStream* stream = nullptr;
    const StoredBlock* block = nullptr;
    bool is_full = false;
  };

  void add_known(const std::vector<const ColumnSummary*>& parts) {
    for (const ColumnSummary* part : parts) all_.add(*part);
    if (all_.present == 0) return;
    const StoredStream& stream = index_.streams.at(series_.streams[0]);
    first_ = {&stream, &stream.blocks[all_.first_block], all_.is_first_full};
    last_ = {&stream, &stream.blocks[all_.last_block], all_.is_last_full};
  }

  bool needs_times() const {
    const bool has_closing = std::any_of(
        series_.parts.begin(), series_.parts.end(),
        [&](const SeriesPart& part) { return index_.closings.contains(part.schema->number); });
    return all_.present > 0 && (series_.series.kind == Kind::counter || has_closing);
  }

  Result<double> time_of(const ValueBlock& place, bool first) {
    const StoredBlock& block = *place.block;
    if (place.is_full) return place.stream->time_s(first ? block.first : block.last);
    const StoredColumn* column = nullptr;
    size_t at = 0;
    const ColumnsFrame* frame = series_.find(block, column, at);
    raw_.resize(block.rows);
    TS_CHECK_OK(cache_.read(*frame, at, raw_));
    TS_TRY(const ColumnCache::Rows rows, cache_.times(block));
    size_t row = first ? block.begin : block.end - 1;
    const auto is_absent = [&](size_t r) { return !column->value(raw_[r]); };
    while (first && row + 1 < block.end && is_absent(row)) ++row;
    while (!first && row > block.begin && is_absent(row)) --row;
    return place.stream->time_s((*rows)[row]);
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

  Summary result() const {
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
  std::vector<int64_t>& raw_;
  ColumnSummary all_;
  ValueBlock first_, last_;
  double begin_s_ = 0, end_s_ = 0;
  bool closed_ = false;
};

// All blocks of these streams, one stream after the other; ends when `take` returns false.
void for_each_block(const RunIndex& index, const std::vector<uint64_t>& streams,
                    const std::function<bool(const StoredStream&, const StoredBlock&)>& take) {
  for (const uint64_t number : streams) {
    const auto stream = index.streams.find(number);
    if (stream == index.streams.end()) continue;
    for (const StoredBlock& block : stream->second.blocks) {
      if (!take(stream->second, block)) return;
    }
  }
}

}  // namespace

std::vector<Result<Summary>> summarize(const RunIndex& index, ColumnCache& cache,
                                       std::span<const StoredSeries* const> series) {
  std::vector<int64_t> raw;
  std::vector<Summarizer> summarizers;
  summarizers.reserve(series.size());
  std::vector<Status> states(series.size());
  std::map<std::vector<uint64_t>, std::vector<size_t>> unknown;  // by their streams
  for (size_t i = 0; i < series.size(); ++i) {
    summarizers.emplace_back(index, cache, *series[i], raw);
    if (!summarizers[i].use_statistics()) unknown[series[i]->streams].push_back(i);
  }
  for (const auto& entry : unknown) {
    const std::vector<size_t>& places = entry.second;
    for_each_block(index, entry.first, [&](const StoredStream& stream, const StoredBlock& block) {
      for (const size_t i : places) {
        if (states[i]) states[i] = summarizers[i].add_block(stream, block);
      }
      return true;
    });
  }
  // First all beginnings, then all ends: most series have them in the same two blocks.
  for (size_t i = 0; i < series.size(); ++i) {
    if (states[i]) states[i] = summarizers[i].find_begin();
  }
  for (size_t i = 0; i < series.size(); ++i) {
    if (states[i]) states[i] = summarizers[i].find_end();
  }
  std::vector<Result<Summary>> summaries;
  for (size_t i = 0; i < series.size(); ++i) {
    if (states[i]) {
      summaries.emplace_back(summarizers[i].finish());
    } else {
      summaries.emplace_back(states[i].error());
    }
  }
  return summaries;
}

bool has_values(const RunIndex& index, ColumnCache& cache, const StoredSeries& series) {
  for (const SeriesPart& part : series.parts) {
    const auto closing = index.closings.find(part.schema->number);
    if (closing == index.closings.end()) continue;
    if (part.schema->columns[part.column].value(closing->second.values[part.column])) return true;
  }
  if (const auto parts = known_parts(index, series)) {
    return std::any_of(parts->begin(), parts->end(),
                       [](const ColumnSummary* part) { return part->present > 0; });
  }
  std::vector<int64_t> raw;
  Summarizer values(index, cache, series, raw);
  Status state;
  for_each_block(index, series.streams, [&](const StoredStream& stream, const StoredBlock& block) {
    state = values.add_block(stream, block);
    return state && !values.has_any();
  });
  return !state || values.has_any();
}

}  // namespace trainscope
