#include "analyze/support/saving_time.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace trainscope {

namespace {

// What hours show, days would not show better.
constexpr double kMostHoursS = 6 * 3600;
// Less than this is what a job prints.
constexpr double kWritingPerS = 1e6;
// A job that uses less than this while it trains does not show by its CPU time that it waits.
constexpr double kComputingCores = 0.2;
constexpr double kWaitingPart = 0.3;

// Between two samples.
struct Interval {
  double from_s = 0, to_s = 0;
  double written = 0, cpu_s = 0;
  double length_s() const { return to_s - from_s; }
};

// What the job wrote and computed from sample to sample. One collector reads all of it at once.
class JobIntervals {
 public:
  explicit JobIntervals(const RunView& run) : run_(run) {
    const std::vector<Series>& series = run.recorded_series();
    for (size_t i = 0; i < series.size(); ++i) {
      if (series[i].status == SeriesStatus::absent) continue;
      const std::string_view metric = series[i].metric;
      const bool is_io = metric == "job.io.bytes" || metric == "job.disk.io";
      if (is_io && series[i].labels == Labels{{"direction", "write"}}) writes_.push_back(i);
      if (metric == "job.cpu.time") cpu_.push_back(i);
    }
  }
  bool are_known() const { return !writes_.empty(); }

  // In order of time. What was not read at the same instants is left out.
  template <typename Visit>
  Status visit(double begin_s, double end_s, Visit&& visit) const {
    std::vector<size_t> all = writes_;
    all.insert(all.end(), cpu_.begin(), cpu_.end());
    std::vector<double> before;
    double before_s = 0;
    for (const Range& part : run_.parts_of({begin_s, end_s - begin_s, 1})) {
      TS_TRY(const std::vector<Points> points, run_.points_of(all, part));
      const size_t rows = points.front().time_s.size();
      if (std::any_of(points.begin(), points.end(),
                      [&](const Points& each) { return each.time_s.size() != rows; })) {
        continue;
      }
      for (size_t row = 0; row < rows; ++row) {
        std::vector<double> now = values_of(points, row);
        if (now.empty()) continue;
        const double now_s = points.front().time_s[row];
        if (!before.empty()) visit(between(before_s, before, now_s, now));
        before = std::move(now);
        before_s = now_s;
      }
    }
    return {};
  }

 private:
  // Empty if one is absent.
  static std::vector<double> values_of(const std::vector<Points>& points, size_t row) {
    std::vector<double> values;
    for (const Points& each : points) {
      if (each.present[row] == 0) return {};
      values.push_back(each.value[row]);
    }
    return values;
  }

  // A large write is in job.io.bytes once its call returns, in job.disk.io as it goes on; some file
  // systems have it in one of them only.
  Interval between(double from_s, const std::vector<double>& from, double to_s,
                   const std::vector<double>& to) const {
    Interval interval{from_s, to_s};
    for (size_t i = 0; i < from.size(); ++i) {
      const double more = std::max(0.0, to[i] - from[i]);
      if (i < writes_.size()) {
        interval.written = std::max(interval.written, more);
      } else {
        interval.cpu_s += more;
      }
    }
    return interval;
  }

  const RunView& run_;
  std::vector<size_t> writes_, cpu_;  // places of their series
};

// How much of intervals, which come in order of time, is in pauses.
class PausesInOrder {
 public:
  explicit PausesInOrder(const std::vector<Pause>& pauses)
      : next_(pauses.begin()), end_(pauses.end()) {}

  double overlap_s(const Interval& interval) {
    is_new_ = false;
    for (; next_ != end_ && next_->to_s <= interval.from_s; ++next_) is_new_ = true;
    double sum_s = 0;
    for (auto pause = next_; pause != end_ && pause->from_s < interval.to_s; ++pause) {
      sum_s += std::min(pause->to_s, interval.to_s) - std::max(pause->from_s, interval.from_s);
    }
    return sum_s;
  }
  // The last interval is behind a pause that an earlier one touched.
  bool is_new() const { return is_new_; }

 private:
  std::vector<Pause>::const_iterator next_, end_;
  bool is_new_ = false;
};

}  // namespace

Result<std::optional<double>> saving_in_pauses(const RunView& run, const std::vector<Pause>& pauses,
                                               double begin_s, double end_s) {
  const JobIntervals intervals(run);
  const double to_s = std::min(end_s, begin_s + kMostHoursS);
  if (pauses.empty() || !intervals.are_known()) return std::optional<double>();
  double usual_s = 0, usual_cpu_s = 0;
  PausesInOrder usually(pauses);
  TS_CHECK_OK(intervals.visit(begin_s, to_s, [&](const Interval& each) {
    if (usually.overlap_s(each) > 0) return;
    usual_s += each.length_s();
    usual_cpu_s += each.cpu_s;
  }));
  const double usual_cores = usual_s > 0 ? usual_cpu_s / usual_s : 0;
  double paused_s = 0, saving_s = 0;
  bool has_written = false;
  PausesInOrder paused(pauses);
  TS_CHECK_OK(intervals.visit(begin_s, to_s, [&](const Interval& each) {
    const double overlap_s = paused.overlap_s(each);
    if (paused.is_new()) has_written = false;
    const bool is_writing = each.written >= kWritingPerS * each.length_s();
    has_written = has_written || (is_writing && overlap_s > 0);
    // The rest of the interval is as usual.
    const double waiting_cpu_s =
        usual_cores * (each.length_s() - overlap_s + kWaitingPart * overlap_s);
    const bool is_waiting =
        has_written && usual_cores >= kComputingCores && each.cpu_s < waiting_cpu_s;
    paused_s += overlap_s;
    saving_s += is_writing || is_waiting ? overlap_s : 0;
  }));
  return paused_s > 0 ? std::optional(saving_s / paused_s) : std::nullopt;
}

}  // namespace trainscope
