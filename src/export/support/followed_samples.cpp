#include "export/support/followed_samples.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "export/support/header.h"
#include "export/support/selection.h"
#include "export/support/text.h"

namespace trainscope {

namespace {

constexpr double kHeldBack_s = 1;
constexpr double kForever_s = std::numeric_limits<double>::infinity();

// Metric and labels. Not series_text: a label may contain ; and =.
using SeriesKey = std::pair<std::string, Labels>;

SeriesKey key_of(const Series& series) { return {series.metric, series.labels}; }

// What was read and written of a series.
struct FollowedSeries {
  SeriesFilter filter;
  std::string middle;              // of its lines
  double read_s = -kForever_s;     // samples up to this time were read
  double written_s = -kForever_s;  // and written
  Values held;                     // those between: a later part may not have them
};

class FollowedSamples : public FollowedExport {
 public:
  FollowedSamples(const ExportOptions& options, const ExportSink& sink)
      : options_(options), raw_(options), buffer_(sink) {
    raw_.every_ns = 0;
    raw_.rates = false;
  }

  Status begin(const RunView& whole) override {
    TS_TRY(std::vector<size_t> selected, select_series(whole, options_.metrics));
    buffer_.text() += samples_header_line(whole, selected, options_);
    for (const size_t i : selected) followed(whole.series_at(i));
    std::erase_if(selected, [&](size_t i) { return i >= whole.recorded_series().size(); });
    return add_windows(whole, selected, options_.range, limit_of(whole));
  }

  bool needs_whole() const override { return false; }

  Status add(const RunView& part) override {
    const auto selected = matching_series(part.recorded_series(), options_.metrics);
    TS_TRY(std::vector<Points> all, part.points_of(selected, options_.range));
    Window window;
    for (Points& points : all) window.series.push_back(present_values(std::move(points)));
    TS_CHECK_OK(add_window(part, selected, window, limit_of(part)));
    return buffer_.pass_on();
  }

  Status add_whole(const RunView& whole) override { return add(whole); }

  Result<std::string> finish(const RunView& whole) override {
    TS_TRY(const std::vector<size_t> selected, select_series(whole, options_.metrics));
    std::vector<size_t> recorded, of_training;
    Range range = options_.range;
    double from_s = kForever_s;  // nothing before this is new
    // The run may have ended before samples that were held back.
    for (auto& [key, series] : all_) {
      series.held = {};
      series.read_s = series.written_s;
    }
    for (const size_t i : selected) {
      const bool is_recorded = i < whole.recorded_series().size();
      (is_recorded ? recorded : of_training).push_back(i);
      const auto known = all_.find(key_of(whole.series_at(i)));
      const double last_s = known == all_.end() ? -kForever_s : known->second.written_s;
      if (is_recorded) from_s = std::min(from_s, last_s);
    }
    if (from_s > range.begin_s.value_or(0) && from_s < kForever_s) range.begin_s = from_s;
    TS_CHECK_OK(add_windows(whole, recorded, range, kForever_s));
    TS_CHECK_OK(add_windows(whole, of_training, options_.range, kForever_s));
    Window window;
    in_window_.clear();
    for (auto& [key, series] : all_) {
      in_window_.push_back(&series);
      series.filter.finish_bucket(window.series.emplace_back());
    }
    TS_CHECK_OK(write(window));
    TS_CHECK_OK(buffer_.pass_on());
    return std::string();
  }

 private:
  static double limit_of(const RunView& run) {
    return run.status() == RunStatus::running ? run.duration_s() - kHeldBack_s : kForever_s;
  }

  FollowedSeries& followed(const Series& series) {
    SeriesKey key = key_of(series);
    const auto known = all_.find(key);
    if (known != all_.end()) return known->second;
    return all_
        .emplace(std::move(key), FollowedSeries{SeriesFilter(series, options_),
                                                sample_middle(series),
                                                -kForever_s,
                                                -kForever_s,
                                                {}})
        .first->second;
  }

  Status add_windows(const RunView& run, const std::vector<size_t>& selected, const Range& range,
                     double limit_s) {
    raw_.range = range;
    TS_CHECK_OK(for_each_window(run, selected, raw_, [&](const Window& window) {
      return add_window(run, selected, window, limit_s);
    }));
    return buffer_.pass_on();
  }

  // Writes what is new in a window, up to a time.
  Status add_window(const RunView& run, const std::vector<size_t>& selected, const Window& window,
                    double limit_s) {
    announce(run, selected);
    Window fresh;
    in_window_.clear();
    for (size_t k = 0; k < selected.size(); ++k) {
      FollowedSeries& series = followed(run.series_at(selected[k]));
      in_window_.push_back(&series);
      fresh.series.push_back(series.filter.add(take_new(series, window.series[k], limit_s)));
    }
    return write(fresh);
  }

  void announce(const RunView& run, const std::vector<size_t>& selected) {
    std::vector<size_t> added;
    for (const size_t i : selected) {
      if (!all_.contains(key_of(run.series_at(i)))) added.push_back(i);
    }
    if (!added.empty()) buffer_.text() += samples_header_line(run, added, options_);
  }

  // What was not written yet, up to a time. Samples of the training may have the same time; they
  // are given once, window after window.
  static Values take_new(FollowedSeries& series, const Values& values, double limit_s) {
    const double read_s = series.read_s;
    Values& held = series.held;
    for (size_t i = 0; i < values.time_s.size(); ++i) {
      if (values.time_s[i] <= read_s) continue;
      held.add(values.time_s[i], values.value[i]);
      series.read_s = values.time_s[i];
    }
    const auto end = std::upper_bound(held.time_s.begin(), held.time_s.end(), limit_s);
    const auto count = end - held.time_s.begin();
    if (count == 0) return {};
    Values fresh{{held.time_s.begin(), end}, {held.value.begin(), held.value.begin() + count}};
    held.time_s.erase(held.time_s.begin(), end);
    held.value.erase(held.value.begin(), held.value.begin() + count);
    series.written_s = fresh.time_s.back();
    return fresh;
  }

  Status write(const Window& window) {
    return for_each_sample(window, [&](const SampleAt& at) {
      std::string& out = buffer_.text();
      out += "{\"time_s\":";
      out += time_.of(at.time_s);
      out += in_window_[at.series]->middle;
      append_value(out, window.series[at.series].value[at.sample]);
      out += "}\n";
      return buffer_.pass_on_when_full();
    });
  }

  const ExportOptions& options_;
  ExportOptions raw_;  // the samples themselves
  TextBuffer buffer_;
  TimeText time_;
  std::map<SeriesKey, FollowedSeries> all_;
  std::vector<FollowedSeries*> in_window_;  // the series of the window that is written
};

}  // namespace

std::unique_ptr<FollowedExport> follow_samples(const ExportOptions& options,
                                               const ExportSink& sink) {
  return std::make_unique<FollowedSamples>(options, sink);
}

}  // namespace trainscope
