// A recorded run as its readers see it.
//
// Collectors produce metrics, the store saves them, analyses and exporters read a RunView. Nothing
// here depends on files, processes or formats. Times are seconds from t = 0 (when the first sample
// was due) unless a name states otherwise; an absent number is an empty optional, never 0 and never
// NaN.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/manifest.h"
#include "model/metric.h"
#include "model/points.h"
#include "model/window_fold.h"

namespace trainscope {

struct Training;  // model/training.h, which most of the program does not need

// A series, and what a window of time shows of it.
struct WindowQuery {
  size_t series = 0;
  Reading reading = Reading::level;
  bool has_extremes = false;  // the smallest and the largest of each window are wanted too
};

struct Gap {
  double from_s = 0;
  double to_s = 0;
  std::string reason;
  bool is_damage = false;  // what was recorded cannot be read
};

struct Sampling {
  double period_s = 0;
  int64_t samples = 0;
  int64_t missed = 0;
  int64_t restarts = 0;
  std::optional<double> jitter_p50_s, jitter_p99_s;
  std::vector<Gap> gaps;
  int64_t left_out_gaps = 0;  // shorter ones, where not all are listed
};

struct Overhead {
  std::optional<double> cpu_s, cpu_ratio, max_rss_bytes, bytes_written, bytes_per_value;
};

// A recorded run as analyses, comparisons and exporters see it. Implemented by the store.
class RunView {
 public:
  virtual ~RunView() = default;
  virtual const Manifest& manifest() const = 0;
  virtual const std::string& path() const = 0;
  virtual RunStatus status() const = 0;
  virtual double duration_s() const = 0;
  // The host's inventory as JSON text (object); "{}" when the recorder did not get to it.
  virtual const std::string& host_json() const = 0;
  // Stored series first, then derived ones, those of the training, and absent ones.
  virtual const std::vector<Series>& series() const = 0;
  // The beginning of series(): all but those of the training (train.*) and absent ones. Reported
  // progress is not read for it.
  virtual const std::vector<Series>& recorded_series() const { return series(); }
  const Series& series_at(size_t i) const {
    return i < recorded_series().size() ? recorded_series()[i] : series()[i];
  }
  virtual Result<Points> points(size_t series_index, const Range& range) const = 0;
  virtual Result<Summary> summary(size_t series_index) const = 0;
  // Of several series, which takes less time together than one after the other.
  virtual Result<std::vector<Points>> points_of(const std::vector<size_t>& series,
                                                const Range& range) const;
  virtual Result<std::vector<Summary>> summaries_of(const std::vector<size_t>& series) const;
  // Series reduced to windows of time, in order of time and with memory that does not grow with it.
  virtual Result<std::vector<WindowFold>> fold_windows(const std::vector<WindowQuery>& queries,
                                                       const TimeWindows& windows) const;
  // The time of all windows in parts that follow each other, each of them small enough to be read
  // with many series.
  virtual std::vector<Range> parts_of(const TimeWindows& windows) const;
  virtual const Sampling& sampling() const = 0;
  virtual Overhead overhead() const = 0;
  virtual const std::vector<Event>& events() const = 0;
  // Events of gaps, where not all are listed.
  virtual int64_t left_out_events() const { return 0; }
  virtual const Training& training() const = 0;
};

// How many samples some series of the training have: a job may report steps much faster than
// samples are taken, so the sampling period says nothing about them. Others of `series` are left
// out.
struct ReportedSamples {
  int64_t all = 0, most_of_one = 0;
};
ReportedSamples reported_samples(const RunView& run, const std::vector<size_t>& series);

}  // namespace trainscope
