#include <map>

#include "store/read/series_reader.h"

namespace trainscope {

namespace {

// Derived series whose inputs are all in one stream, so that their rows are the same.
class DerivedPass {
 public:
  DerivedPass(const StoredStream& stream, ColumnCache& cache, const SeriesDirectory& directory,
              const TakePoints& take)
      : stream_(stream), cache_(cache), directory_(directory), take_(take) {}

  void add(size_t place, const DerivedSeries& series) { members_.push_back({place, series}); }

  Status run(const Range& range) {
    TS_TRY(const StreamRows rows, find_rows(stream_, cache_, range));
    if (rows.before) TS_CHECK_OK(compute(*rows.before, false));
    for (const BlockRows& each : rows.blocks) TS_CHECK_OK(compute(each, true));
    return {};
  }

 private:
  struct Member {
    Member(size_t at, const DerivedSeries& series) : place(at), state(series) {}
    size_t place;
    DerivedState state;
  };

  Status compute(const BlockRows& rows, bool is_wanted) {
    TS_CHECK_OK(read_times(stream_, cache_, rows, times_));
    raw_.resize(rows.block->rows);
    values_.resize(rows.count());
    present_.resize(rows.count());
    for (Member& member : members_) {
      calculator_.begin(member.state, times_);
      for (const size_t input : member.state.derived->inputs) {
        TS_CHECK_OK(add_input(directory_.stored[input], rows));
      }
      const Points& points = calculator_.finish();
      if (is_wanted) take_(member.place, points);
    }
    return {};
  }

  Status add_input(const StoredSeries& input, const BlockRows& rows) {
    const StoredColumn* column = nullptr;
    size_t at = 0;
    const ColumnsFrame* frame = input.find(*rows.block, column, at);
    if (frame == nullptr) {
      calculator_.add({});
      return {};
    }
    TS_CHECK_OK(cache_.read(*frame, at, raw_));
    set_values(*column, std::span(raw_).subspan(rows.from, rows.count()), values_, present_);
    calculator_.add({values_, present_});
    return {};
  }

  const StoredStream& stream_;
  ColumnCache& cache_;
  const SeriesDirectory& directory_;
  const TakePoints& take_;
  std::vector<Member> members_;
  DerivedCalculator calculator_;
  std::vector<double> times_, values_;
  std::vector<int64_t> raw_;
  std::vector<char> present_;
};

// The values of `points` at the given times.
void align(const std::vector<double>& times, Points& points) {
  if (points.time_s == times) return;
  Points aligned{times, std::vector<double>(times.size()), std::vector<char>(times.size())};
  size_t at = 0;
  for (size_t i = 0; i < times.size(); ++i) {
    while (at < points.time_s.size() && points.time_s[at] < times[i]) ++at;
    if (at == points.time_s.size() || points.time_s[at] != times[i]) continue;
    aligned.value[i] = points.value[at];
    aligned.present[i] = points.present[at];
  }
  points = std::move(aligned);
}

Points without_first(const Points& points) {
  return {{points.time_s.begin() + 1, points.time_s.end()},
          {points.value.begin() + 1, points.value.end()},
          {points.present.begin() + 1, points.present.end()}};
}

// A series whose inputs are in several streams: its rows are those of the first input.
Status read_unaligned(const RunIndex& index, ColumnCache& cache, const SeriesDirectory& directory,
                      const DerivedSeries& derived, const Range& range,
                      const std::function<void(const Points&)>& take) {
  std::vector<const StoredSeries*> inputs;
  for (const size_t input : derived.inputs) inputs.push_back(&directory.stored[input]);
  DerivedState state(derived);
  DerivedCalculator calculator;
  bool is_first = true;
  for (const Range& part : split_by_blocks(index, inputs[0]->streams[0], range)) {
    TS_TRY(std::vector<Points> read, read_points(index, cache, inputs, part, is_first));
    const std::vector<double> times = read[0].time_s;
    calculator.begin(state, times);
    for (Points& points : read) {
      align(times, points);
      calculator.add({points.value, points.present});
    }
    const Points& points = calculator.finish();
    const bool has_before = is_first && !times.empty() && part.begin_s && times[0] < *part.begin_s;
    take(has_before ? without_first(points) : points);
    is_first = is_first && times.empty();
  }
  return {};
}

// The stream of all inputs, or nothing if they have several.
std::optional<uint64_t> common_stream(const DerivedSeries& derived,
                                      const SeriesDirectory& directory) {
  const uint64_t stream = directory.stored[derived.inputs[0]].streams[0];
  for (const size_t input : derived.inputs) {
    const std::vector<uint64_t>& streams = directory.stored[input].streams;
    if (streams.size() > 1 || streams[0] != stream) return std::nullopt;
  }
  return stream;
}

}  // namespace

Status read_derived(const RunIndex& index, ColumnCache& cache, const SeriesDirectory& directory,
                    std::span<const DerivedSeries* const> series, const Range& range,
                    const TakePoints& take) {
  std::map<uint64_t, DerivedPass> passes;
  for (size_t i = 0; i < series.size(); ++i) {
    const DerivedSeries& derived = *series[i];
    if (derived.inputs.empty() || derived.series.status == SeriesStatus::absent) continue;
    const auto stream = common_stream(derived, directory);
    if (!stream) {
      TS_CHECK_OK(read_unaligned(index, cache, directory, derived, range,
                                 [&](const Points& points) { take(i, points); }));
      continue;
    }
    const auto found = index.streams.find(*stream);
    if (found == index.streams.end()) continue;
    const auto pass = passes.try_emplace(*stream, found->second, cache, directory, take).first;
    pass->second.add(i, derived);
  }
  for (auto& [stream, pass] : passes) TS_CHECK_OK(pass.run(range));
  return {};
}

}  // namespace trainscope
