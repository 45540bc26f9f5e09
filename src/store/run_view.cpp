// The recorded run behind RunView: index, directory and cache put together.
#include <mutex>

#include "store/column_cache.h"
#include "store/derived.h"
#include "store/files.h"
#include "store/reports.h"
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

// What reported progress is read for: only when somebody wants it.
struct Progress {
  Training training;
  std::vector<TrainingSeries> series;
  std::vector<Series> all_series;  // of the run
};

class StoredRun : public RunView {
 public:
  explicit StoredRun(RunFiles files) : files_(std::move(files)) {}

  // Apart from the constructor because it can fail, and after it because the index points into
  // files_.
  Status open() {
    TS_TRY(index_, index_run(files_));
    duration_s_ = files_.manifest.duration_s.value_or(last_row_s(index_));
    directory_ = list_series(index_);
    mark_empty_series();
    derived_ = list_derived(directory_, index_.host_json);
    for (const StoredSeries& stored : directory_.stored) recorded_.push_back(stored.series);
    for (const DerivedSeries& derived : derived_) recorded_.push_back(derived.series);
    lateness_at_ = recorded_.size();
    recorded_.push_back(lateness_series());
    if (!files_.manifest.imported_format.empty()) {
      recorded_.back().status = SeriesStatus::absent;
      recorded_.back().reason = "an imported run has nominal times";
    }
    sampling_ = judge_sampling(index_, files_.manifest, duration_s_);
    return {};
  }

  const Manifest& manifest() const override { return files_.manifest; }
  const std::string& path() const override { return files_.path; }
  RunStatus status() const override { return files_.status; }
  double duration_s() const override { return duration_s_; }
  const std::string& host_json() const override { return index_.host_json; }
  const std::vector<Series>& series() const override { return progress().all_series; }
  const std::vector<Series>& recorded_series() const override { return recorded_; }
  const Sampling& sampling() const override { return sampling_; }
  const std::vector<Event>& events() const override { return index_.events; }
  const Training& training() const override { return progress().training; }

  Result<Points> points(size_t series_index, const Range& range) const override {
    TS_TRY(std::vector<Points> all, points_of({series_index}, range));
    return std::move(all[0]);
  }

  Result<std::vector<Points>> points_of(const std::vector<size_t>& series,
                                        const Range& range) const override {
    std::vector<Points> all(series.size());
    std::vector<const StoredSeries*> stored;
    std::vector<size_t> stored_at, derived_at;
    for (size_t i = 0; i < series.size(); ++i) {
      if (is_stored(series[i])) {
        stored.push_back(&directory_.stored[series[i]]);
        stored_at.push_back(i);
      } else if (is_derived(series[i])) {
        derived_at.push_back(i);
      } else {
        TS_TRY(all[i], other_points(series[i], range));
      }
    }
    TS_TRY(std::vector<Points> read, read_points(index_, cache_, stored, range, false));
    for (size_t k = 0; k < read.size(); ++k) all[stored_at[k]] = std::move(read[k]);
    TS_CHECK_OK(compute_by_blocks(series, derived_at, range, [&](size_t i, const Points& more) {
      all[i].time_s.insert(all[i].time_s.end(), more.time_s.begin(), more.time_s.end());
      all[i].value.insert(all[i].value.end(), more.value.begin(), more.value.end());
      all[i].present.insert(all[i].present.end(), more.present.begin(), more.present.end());
    }));
    return all;
  }

  Result<Summary> summary(size_t series_index) const override {
    TS_TRY(const std::vector<Summary> all, summaries_of({series_index}));
    return all[0];
  }

  Result<std::vector<Summary>> summaries_of(const std::vector<size_t>& series) const override {
    std::vector<Summary> all(series.size());
    std::vector<size_t> derived_at;
    std::vector<PointsSummary> derived(series.size());
    for (size_t i = 0; i < series.size(); ++i) {
      if (is_stored(series[i])) {
        TS_TRY(all[i], summarize(index_, cache_, directory_.stored[series[i]]));
      } else if (is_derived(series[i])) {
        derived_at.push_back(i);
      } else {
        TS_TRY(all[i], other_summary(series[i]));
      }
    }
    TS_CHECK_OK(compute_by_blocks(series, derived_at, {},
                                  [&](size_t i, const Points& more) { derived[i].add(more); }));
    for (const size_t i : derived_at) all[i] = derived[i].finish(recorded_[series[i]].kind);
    return all;
  }

  Overhead overhead() const override {
    Overhead overhead;
    int64_t values = 0;
    const auto add = [](std::optional<double>& sum, const std::optional<double>& more) {
      if (more) sum = sum.value_or(0) + *more;
    };
    for (const StoredSeries& stored : directory_.stored) {
      const auto summary = summarize(index_, cache_, stored);
      if (!summary) continue;
      values += summary->samples;
      const std::string& metric = stored.series.metric;
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
  bool is_stored(size_t series) const { return series < directory_.stored.size(); }
  bool is_derived(size_t series) const { return !is_stored(series) && series < lateness_at_; }

  // A column that never had a value is as absent as one that is not there.
  void mark_empty_series() {
    for (StoredSeries& stored : directory_.stored) {
      if (has_values(index_, cache_, stored)) continue;
      stored.series.status = SeriesStatus::absent;
      if (stored.series.reason.empty()) stored.series.reason = "no value could be read in this run";
    }
  }

  // Lateness, what the training reported, and what is absent.
  Result<Points> other_points(size_t series, const Range& range) const {
    if (series == lateness_at_) {
      const bool is_known = recorded_[series].status != SeriesStatus::absent;
      return is_known ? read_lateness(index_, cache_, range) : Points{};
    }
    CHECK(series < progress().all_series.size());
    const size_t at = series - recorded_.size();
    if (at >= progress().series.size()) return Points{};
    return within(progress().series[at].points, range);
  }

  Result<Summary> other_summary(size_t series) const {
    PointsSummary summary;
    if (series != lateness_at_) {
      TS_TRY(const Points all, other_points(series, {}));
      summary.add(all);
      return summary.finish(progress().all_series[series].kind);
    }
    for (const Range& part : split_by_blocks(index_, 0, {})) {
      TS_TRY(const Points points, other_points(series, part));
      summary.add(points);
    }
    return summary.finish(recorded_[series].kind);
  }

  // Computes the derived ones of `series`, which are at the places `which`, a few blocks at a time.
  template <typename Take>
  Status compute_by_blocks(const std::vector<size_t>& series, const std::vector<size_t>& which,
                           const Range& range, const Take& take) const {
    std::map<uint64_t, std::vector<size_t>> by_stream;  // of the first input
    for (const size_t i : which) {
      const DerivedSeries& derived = derived_[series[i] - directory_.stored.size()];
      if (derived.inputs.empty() || derived.series.status == SeriesStatus::absent) continue;
      by_stream[directory_.stored[derived.inputs[0]].streams[0]].push_back(i);
    }
    for (const auto& [stream, places] : by_stream) {
      for (const Range& part : split_by_blocks(index_, stream, range)) {
        for (const size_t i : places) {
          const DerivedSeries& derived = derived_[series[i] - directory_.stored.size()];
          std::vector<const StoredSeries*> inputs;
          for (const size_t input : derived.inputs) inputs.push_back(&directory_.stored[input]);
          TS_TRY(std::vector<Points> read, read_points(index_, cache_, inputs, part, true));
          take(i, compute_derived(derived, part, std::move(read)));
        }
      }
    }
    return {};
  }

  const Progress& progress() const {
    std::call_once(progress_once_, [this] { progress_ = read_progress(); });
    return progress_;
  }

  Progress read_progress() const {
    Progress progress;
    auto stored = read_reports(index_.report_frames);
    if (stored) {
      progress.training = read_training(std::move(stored->reports), duration_s_, index_.events);
      if (stored->unreadable > 0) {
        progress.training.notes.push_back(std::to_string(stored->unreadable) +
                                          " stored messages of progress cannot be read");
      }
    } else {
      progress.training.reason = "reported progress cannot be read: " + stored.error().message();
    }
    const bool is_imported = !files_.manifest.imported_format.empty();
    const bool has_steps = progress.training.count || !progress.training.epochs.empty();
    if (is_imported && stored && !has_steps) {
      progress.training.reason = "the imported recording has no steps";
    }
    progress.series = list_training_series(progress.training);
    progress.all_series = recorded_;
    for (const TrainingSeries& each : progress.series) progress.all_series.push_back(each.series);
    for (const Series& absent : directory_.absent) progress.all_series.push_back(absent);
    return progress;
  }

  RunFiles files_;
  RunIndex index_;
  mutable ColumnCache cache_;
  SeriesDirectory directory_;
  std::vector<DerivedSeries> derived_;
  std::vector<Series> recorded_;
  size_t lateness_at_ = 0;
  Sampling sampling_;
  double duration_s_ = 0;
  mutable std::once_flag progress_once_;
  mutable Progress progress_;
};

}  // namespace

Result<std::unique_ptr<RunView>> view_run(RunFiles files) {
  auto run = std::make_unique<StoredRun>(std::move(files));
  TS_CHECK_OK(run->open());
  return std::unique_ptr<RunView>(std::move(run));
}

}  // namespace trainscope
