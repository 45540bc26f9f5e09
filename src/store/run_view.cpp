// The recorded run behind RunView: index, directory and cache put together.
#include "store/column_cache.h"
#include "store/derived.h"
#include "store/files.h"
#include "store/run_index.h"
#include "store/sampling.h"
#include "store/series_directory.h"
#include "store/series_reader.h"
#include "store/store.h"
#include "training/training.h"

namespace trainscope {

namespace {

Points within(const Points& all, const Range& range) {
  Points points;
  for (size_t i = 0; i < all.time_s.size(); ++i) {
    if (all.time_s[i] < range.begin_s.value_or(all.time_s[i])) continue;
    if (range.end_s && all.time_s[i] >= *range.end_s) break;
    points.time_s.push_back(all.time_s[i]);
    points.value.push_back(all.value[i]);
    points.present.push_back(all.present[i]);
  }
  return points;
}

class StoredRun : public RunView {
 public:
  explicit StoredRun(RunFiles files) : files_(std::move(files)) {}

  // Apart from the constructor because it can fail, and after it because the index points into
  // files_.
  Status open() {
    TS_TRY(index_, index_run(files_));
    if (files_.manifest.duration_s) {
      duration_s_ = *files_.manifest.duration_s;
      index_.drop_rows_after(duration_s_);
    } else {
      duration_s_ = last_row_s(index_);
    }
    directory_ = list_series(index_);
    mark_empty_series();
    derived_ = list_derived(directory_, index_.host_json);
    training_ = read_training(std::move(index_.reports), duration_s_, index_.events);
    if (index_.unreadable_reports > 0) {
      training_.notes.push_back(std::to_string(index_.unreadable_reports) +
                                " stored progress messages cannot be read");
    }
    training_series_ = list_training_series(training_);
    for (const StoredSeries& stored : directory_.stored) series_.push_back(stored.series);
    for (const DerivedSeries& derived : derived_) series_.push_back(derived.series);
    lateness_at_ = series_.size();
    series_.push_back(lateness_series());
    if (!files_.manifest.imported_format.empty()) {
      series_.back().status = SeriesStatus::absent;
      series_.back().reason = "an imported run has nominal times";
    }
    for (const TrainingSeries& told : training_series_) series_.push_back(told.series);
    for (const Series& absent : directory_.absent) series_.push_back(absent);
    sampling_ = judge_sampling(index_, files_.manifest, duration_s_);
    return {};
  }

  const Manifest& manifest() const override { return files_.manifest; }
  const std::string& path() const override { return files_.path; }
  RunStatus status() const override { return files_.status; }
  double duration_s() const override { return duration_s_; }
  const std::string& host_json() const override { return index_.host_json; }
  const std::vector<Series>& series() const override { return series_; }
  const Sampling& sampling() const override { return sampling_; }
  const std::vector<Event>& events() const override { return index_.events; }
  const Training& training() const override { return training_; }

  Result<Points> points(size_t series_index, const Range& range) const override {
    CHECK(series_index < series_.size());
    if (series_index < directory_.stored.size()) {
      return read_points(index_, cache_, directory_.stored[series_index], range, false);
    }
    if (series_index == lateness_at_) {
      const bool known = series_[series_index].status != SeriesStatus::absent;
      return known ? read_lateness(index_, range) : Points{};
    }
    if (series_index > lateness_at_) {
      const size_t at = series_index - lateness_at_ - 1;
      if (at >= training_series_.size()) return Points{};
      return within(training_series_[at].points, range);
    }
    series_index -= directory_.stored.size();
    return compute_derived(derived_[series_index], range, [&](size_t input) {
      return read_points(index_, cache_, directory_.stored[input], range, true);
    });
  }

  Result<Summary> summary(size_t series_index) const override {
    CHECK(series_index < series_.size());
    if (series_index < directory_.stored.size()) {
      return summarize(index_, cache_, directory_.stored[series_index]);
    }
    TS_TRY(const Points all, points(series_index, {}));
    return summarize_points(all, series_[series_index].kind);
  }

  Overhead overhead() const override {
    Overhead overhead;
    int64_t values = 0;
    const auto add = [](std::optional<double>& sum, const std::optional<double>& more) {
      if (more) sum = sum.value_or(0) + *more;
    };
    for (size_t i = 0; i < directory_.stored.size(); ++i) {
      const auto summary = this->summary(i);
      if (!summary) continue;
      values += summary->samples;
      const std::string& metric = directory_.stored[i].series.metric;
      if (metric == "recorder.cpu.time") add(overhead.cpu_s, summary->last);
      if (metric == "recorder.memory.usage") add(overhead.max_rss_bytes, summary->max);
      if (metric == "recorder.bytes_written") add(overhead.bytes_written, summary->last);
    }
    // The last block is written after the last reading, and of a short run there is no other.
    if (const auto written = files_.manifest.bytes_written) {
      overhead.bytes_written = static_cast<double>(*written);
    }
    if (overhead.cpu_s && duration_s_ > 0) overhead.cpu_ratio = *overhead.cpu_s / duration_s_;
    if (values > 0) {
      overhead.bytes_per_value =
          static_cast<double>(index_.value_bytes) / static_cast<double>(values);
    }
    return overhead;
  }

 private:
  // A column that never had a value is as absent as one that is not there.
  void mark_empty_series() {
    for (StoredSeries& stored : directory_.stored) {
      const auto summary = summarize(index_, cache_, stored);
      if (!summary || summary->last) continue;
      stored.series.status = SeriesStatus::absent;
      if (stored.series.reason.empty()) stored.series.reason = "no value could be read in this run";
    }
  }

  RunFiles files_;
  RunIndex index_;
  mutable ColumnCache cache_;
  SeriesDirectory directory_;
  std::vector<DerivedSeries> derived_;
  std::vector<Series> series_;
  size_t lateness_at_ = 0;
  Sampling sampling_;
  Training training_;
  std::vector<TrainingSeries> training_series_;
  double duration_s_ = 0;
};

}  // namespace

Result<std::unique_ptr<RunView>> view_run(RunFiles files) {
  auto run = std::make_unique<StoredRun>(std::move(files));
  TS_CHECK_OK(run->open());
  return std::unique_ptr<RunView>(std::move(run));
}

}  // namespace trainscope
