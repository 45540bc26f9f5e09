// The recorded run behind RunView: index, directory and cache put together.
#include <algorithm>
#include <mutex>

#include "model/points_summary.h"
#include "store/read/at_once.h"
#include "store/read/column_cache.h"
#include "store/read/derived.h"
#include "store/read/files.h"
#include "store/read/reports.h"
#include "store/read/run_index.h"
#include "store/read/sampling.h"
#include "store/read/series_directory.h"
#include "store/read/series_reader.h"
#include "store/store.h"
#include "training/training.h"

namespace trainscope {

namespace {

// What a pass over all blocks holds of them: it needs each block once.
constexpr size_t kPassBytes = size_t{1} << 20;

// What reported progress is read for: only when somebody wants it.
struct Progress {
  Training training;
  std::vector<Series> all_series;  // of the run
};

class StoredRun : public RunView {
 public:
  StoredRun(RunFiles files, TrainingSource training)
      : files_(std::move(files)), training_source_(std::move(training)) {}

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
    sampling_ = summarize_sampling(index_, files_.manifest, duration_s_, files_.most_gaps);
    // They are in sampling_ now; an assignment of {} would keep the memory.
    index_.missed = std::vector<MissedTicks>();
    index_.events.gap_notes = std::vector<GapNote>();
    index_.events.reasons.clear();
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
  const std::vector<Event>& events() const override { return index_.events.listed; }
  int64_t left_out_events() const override { return index_.events.left_out; }
  const Training& training() const override { return progress().training; }

  Result<Points> points(size_t series_index, const Range& range) const override {
    TS_TRY(std::vector<Points> all, points_of({series_index}, range));
    return std::move(all[0]);
  }

  Result<std::vector<Points>> points_of(const std::vector<size_t>& series,
                                        const Range& range) const override {
    std::vector<Points> all(series.size());
    const SeriesByKind kinds = sort_out(series);
    for (const size_t i : kinds.others) {
      TS_TRY(all[i], other_points(series[i], range));
    }
    TS_CHECK_OK(add_training_points(series, kinds.training_at, range, all));
    TS_TRY(std::vector<Points> read, read_points(index_, cache_, kinds.stored, range, false));
    for (size_t k = 0; k < read.size(); ++k) all[kinds.stored_at[k]] = std::move(read[k]);
    TS_CHECK_OK(read_derived(
        index_, cache_, directory_, kinds.derived, range,
        [&](size_t k, const Points& more) { append_points(all[kinds.derived_at[k]], more); }));
    return all;
  }

  Result<Summary> summary(size_t series_index) const override {
    TS_TRY(const std::vector<Summary> all, summaries_of({series_index}));
    return all[0];
  }

  Result<std::vector<Summary>> summaries_of(const std::vector<size_t>& series) const override {
    std::vector<Summary> all(series.size());
    const SeriesByKind kinds = sort_out(series);
    ColumnCache blocks(kPassBytes);
    for (const size_t i : kinds.others) {
      TS_TRY(all[i], other_summary(series[i], blocks));
    }
    for (const size_t i : kinds.training_at) {
      all[i] = progress().training.series[series[i] - recorded_.size()].summary;
    }
    auto stored = summarize(index_, blocks, kinds.stored);
    for (size_t k = 0; k < stored.size(); ++k) {
      TS_TRY(all[kinds.stored_at[k]], std::move(stored[k]));
    }
    std::vector<PointsSummary> derived(kinds.derived.size());
    TS_CHECK_OK(read_derived(index_, blocks, directory_, kinds.derived, {},
                             [&](size_t k, const Points& more) { derived[k].add(more); }));
    for (size_t k = 0; k < derived.size(); ++k) {
      all[kinds.derived_at[k]] = derived[k].finish(kinds.derived[k]->series.kind);
    }
    return all;
  }

  Result<std::vector<WindowFold>> fold_windows(const std::vector<WindowQuery>& queries,
                                               const TimeWindows& windows) const override {
    std::vector<WindowFold> folds;
    std::vector<WindowQuery> others;
    std::vector<size_t> others_at;
    bool has_extremes = false;
    folds.reserve(queries.size());
    for (const WindowQuery& query : queries) {
      folds.emplace_back(windows, query.reading, query.has_extremes);
      has_extremes = has_extremes || query.has_extremes;
      if (is_folded_by_blocks(query.series)) continue;
      others_at.push_back(folds.size() - 1);
      others.push_back(query);
    }
    // Without extremes, statistics tell nearly everything.
    if (has_extremes) {
      TS_CHECK_OK(fold_parts(queries, windows, folds));
    } else {
      TS_CHECK_OK(fold_part(queries, windows, whole_fold(windows), folds));
    }
    TS_TRY(std::vector<WindowFold> rest, RunView::fold_windows(others, windows));
    for (size_t k = 0; k < rest.size(); ++k) folds[others_at[k]] = std::move(rest[k]);
    return folds;
  }

  // By what is stored: a manifest may claim a duration of centuries.
  std::vector<Range> parts_of(const TimeWindows& windows) const override {
    return split_by_blocks(index_, all_of(windows));
  }

  Overhead overhead() const override {
    Overhead overhead;
    int64_t values = 0;
    const auto add = [](std::optional<double>& sum, const std::optional<double>& more) {
      if (more) sum = sum.value_or(0) + *more;
    };
    std::vector<const StoredSeries*> stored;
    for (const StoredSeries& each : directory_.stored) stored.push_back(&each);
    ColumnCache blocks(kPassBytes);
    const auto summaries = summarize(index_, blocks, stored);
    for (size_t i = 0; i < stored.size(); ++i) {
      const auto& summary = summaries[i];
      if (!summary) continue;
      values += summary->samples;
      const std::string& metric = stored[i]->series.metric;
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
  bool is_of_training(size_t series) const {
    return series >= recorded_.size() &&
           series - recorded_.size() < progress().training.series.size();
  }

  // Stored in one stream, or derived.
  bool is_folded_by_blocks(size_t series) const {
    return is_derived(series) ||
           (is_stored(series) && directory_.stored[series].streams.size() == 1);
  }

  // One fold per query; those of series that are not folded by blocks stay empty.
  Status fold_part(const std::vector<WindowQuery>& queries, const TimeWindows& windows,
                   const FoldPart& part, std::vector<WindowFold>& folds) const {
    std::vector<StoredWindowQuery> stored;
    std::vector<const DerivedSeries*> derived;
    std::vector<size_t> derived_at;
    for (size_t i = 0; i < queries.size(); ++i) {
      const size_t series = queries[i].series;
      if (!is_folded_by_blocks(series)) continue;
      if (is_stored(series)) {
        stored.push_back({&directory_.stored[series], queries[i].reading, &folds[i]});
      } else {
        derived_at.push_back(i);
        derived.push_back(&derived_[series - directory_.stored.size()]);
      }
    }
    ColumnCache blocks(kPassBytes);
    TS_CHECK_OK(trainscope::fold_windows(index_, blocks, windows, stored, part));
    const Range all = all_of(windows);
    const Range range = {std::max(*all.begin_s, part.begin_s), std::min(*all.end_s, part.end_s)};
    return read_derived(index_, blocks, directory_, derived, range,
                        [&](size_t k, const Points& more) { folds[derived_at[k]].add(more); });
  }

  // Parts of the time on several processors, put together in their order.
  Status fold_parts(const std::vector<WindowQuery>& queries, const TimeWindows& windows,
                    std::vector<WindowFold>& folds) const {
    const std::vector<FoldPart> parts = split_fold(index_, windows);
    if (parts.size() == 1) return fold_part(queries, windows, parts[0], folds);
    std::vector<std::vector<WindowFold>> all(parts.size());
    TS_CHECK_OK(for_each_at_once(parts.size(), [&](size_t k) -> Status {
      for (const WindowQuery& query : queries) {
        all[k].emplace_back(parts[k].windows, query.reading, query.has_extremes);
      }
      return fold_part(queries, windows, parts[k], all[k]);
    }));
    for (size_t k = 0; k < parts.size(); ++k) {
      for (size_t i = 0; i < folds.size(); ++i) folds[i].append(all[k][i], parts[k].first_window);
    }
    return {};
  }

  // Some series, and where they are in the list that was asked for.
  struct SeriesByKind {
    std::vector<const StoredSeries*> stored;
    std::vector<const DerivedSeries*> derived;
    std::vector<size_t> stored_at, derived_at, training_at, others;
  };
  SeriesByKind sort_out(const std::vector<size_t>& series) const {
    SeriesByKind kinds;
    for (size_t i = 0; i < series.size(); ++i) {
      if (is_stored(series[i])) {
        kinds.stored.push_back(&directory_.stored[series[i]]);
        kinds.stored_at.push_back(i);
      } else if (is_derived(series[i])) {
        kinds.derived.push_back(&derived_[series[i] - directory_.stored.size()]);
        kinds.derived_at.push_back(i);
      } else if (is_of_training(series[i])) {
        kinds.training_at.push_back(i);
      } else {
        kinds.others.push_back(i);
      }
    }
    return kinds;
  }

  // A column that never had a value is as absent as one that is not there.
  void mark_empty_series() {
    for (StoredSeries& stored : directory_.stored) {
      if (has_values(index_, cache_, stored)) continue;
      stored.series.status = SeriesStatus::absent;
      if (stored.series.reason.empty()) stored.series.reason = "no value could be read in this run";
    }
  }

  // Lateness, and what is absent.
  Result<Points> other_points(size_t series, const Range& range) const {
    const bool is_known =
        series == lateness_at_ && recorded_[series].status != SeriesStatus::absent;
    return is_known ? read_lateness(index_, cache_, range) : Points{};
  }

  Result<Summary> other_summary(size_t series, ColumnCache& blocks) const {
    PointsSummary summary;
    if (series != lateness_at_ || recorded_[series].status == SeriesStatus::absent)
      return Summary();
    for (const Range& part : split_by_blocks(index_, 0, {})) {
      TS_TRY(const Points points, read_lateness(index_, blocks, part));
      summary.add(points);
    }
    return summary.finish(recorded_[lateness_at_].kind);
  }

  // Points of the series of the training, which are at the places `which`. Reports are read from
  // their beginning, unless the range continues the last one of the same series.
  Status add_training_points(const std::vector<size_t>& series, const std::vector<size_t>& which,
                             const Range& range, std::vector<Points>& all) const {
    if (which.empty()) return {};
    std::vector<size_t> places;
    for (const size_t i : which) places.push_back(series[i] - recorded_.size());
    const std::lock_guard lock(points_mutex_);
    const bool continues = training_points_ && training_points_->series() == places &&
                           range.begin_s && *range.begin_s >= training_points_->position_s();
    if (!continues) training_points_.emplace(progress().training, std::move(places));
    TS_TRY(std::vector<Points> read, training_points_->read(range));
    for (size_t k = 0; k < which.size(); ++k) all[which[k]] = std::move(read[k]);
    return {};
  }

  const Progress& progress() const {
    std::call_once(progress_once_, [this] { progress_ = read_progress(); });
    return progress_;
  }

  Progress read_progress() const {
    Progress progress;
    const Status read = read_training_into(progress.training);
    const bool is_readable = static_cast<bool>(read);
    if (!is_readable) {
      progress.training = {};
      progress.training.reason = "reported progress cannot be read: " + read.error().message();
    }
    const bool is_imported = !files_.manifest.imported_format.empty();
    const bool has_steps = progress.training.count || !progress.training.epochs.empty();
    if (is_imported && is_readable && !has_steps) {
      progress.training.reason = "the recording was imported, without steps";
    }
    progress.all_series = recorded_;
    for (const TrainingSeries& each : progress.training.series) {
      progress.all_series.push_back(each.series);
    }
    for (const Series& absent : directory_.absent) progress.all_series.push_back(absent);
    return progress;
  }

  Status read_training_into(Training& training) const {
    if (training_source_) {
      TS_TRY(training, training_source_(index_.report_frames, duration_s_, index_.events.listed));
      return {};
    }
    TS_TRY(const auto reports, StoredReports::open(index_.report_frames));
    TS_TRY(training, read_training(reports, duration_s_, index_.events.listed));
    note_unreadable(reports->unreadable(), training);
    return {};
  }

  RunFiles files_;
  TrainingSource training_source_;  // null: the reports are read
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
  mutable std::mutex points_mutex_;
  mutable std::optional<TrainingPoints> training_points_;
};

}  // namespace

Result<std::unique_ptr<RunView>> view_run(RunFiles files, TrainingSource training) {
  auto run = std::make_unique<StoredRun>(std::move(files), std::move(training));
  TS_CHECK_OK(run->open());
  return std::unique_ptr<RunView>(std::move(run));
}

}  // namespace trainscope
