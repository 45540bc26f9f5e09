#include "export/support/series_filter.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trainscope {

namespace {

// Three missed samples make a gap; a sample may be late by half a period.
constexpr double kLongestPeriods = 3.5;

// As it is written, so that a reader who multiplies gets the increase.
double written_time(double time_s) { return std::round(time_s * 1e6) / 1e6; }

int64_t bucket_of(double time_s, int64_t every_ns) {
  return static_cast<int64_t>(std::floor(std::round(time_s * 1e9) / static_cast<double>(every_ns)));
}

}  // namespace

Values present_values(Points points) {
  const auto absent = std::find(points.present.begin(), points.present.end(), char{0});
  if (absent == points.present.end()) return {std::move(points.time_s), std::move(points.value)};
  Values values;
  for (size_t i = 0; i < points.time_s.size(); ++i) {
    if (points.present[i] == 0) continue;
    values.time_s.push_back(points.time_s[i]);
    values.value.push_back(points.value[i]);
  }
  return values;
}

bool becomes_rate(const Series& series, const ExportOptions& options) {
  return options.rates && series.kind == Kind::counter && !series.derived;
}

Series exported_series(const Series& series, const ExportOptions& options) {
  Series exported = series;
  if (!becomes_rate(series, options)) return exported;
  exported.kind = Kind::gauge;
  exported.unit = series.unit == "s" ? "1" : series.unit + "/s";
  return exported;
}

SeriesFilter::SeriesFilter(const Series& series, const ExportOptions& options)
    : is_rate_(becomes_rate(series, options)),
      is_mean_(is_rate_ || series.kind == Kind::gauge),
      every_ns_(options.every_ns),
      longest_s_(series.period_s > 0 ? kLongestPeriods * series.period_s
                                     : std::numeric_limits<double>::infinity()) {}

Values SeriesFilter::add(Values samples) {
  if (!is_rate_ && every_ns_ == 0) return samples;
  Values out;
  for (size_t i = 0; i < samples.time_s.size(); ++i) {
    const double time_s = samples.time_s[i];
    if (!is_rate_) {
      add_to_bucket(time_s, samples.value[i], 1, out);
      continue;
    }
    const bool is_last_of_its_time = i + 1 == samples.time_s.size() ||
                                     written_time(samples.time_s[i + 1]) > written_time(time_s);
    if (is_last_of_its_time) add_increase(time_s, samples.value[i], out);
  }
  return out;
}

void SeriesFilter::add_increase(double time_s, double value, Values& out) {
  const auto since_s = before_s_;
  const double increase = value - before_;
  before_s_ = written_time(time_s);
  before_ = value;
  if (!since_s) return;
  const double seconds = *before_s_ - *since_s;
  if (increase < 0 || seconds <= 0 || seconds > longest_s_) return;
  if (every_ns_ > 0) {
    add_to_bucket(time_s, increase, seconds, out);
  } else {
    out.add(time_s, increase / seconds);
  }
}

void SeriesFilter::add_to_bucket(double time_s, double value, double weight, Values& out) {
  const int64_t number = bucket_of(time_s, every_ns_);
  if (bucket_ && bucket_->number != number) finish_bucket(out);
  if (!bucket_) bucket_ = Bucket{number};
  bucket_->sum += static_cast<long double>(value);
  bucket_->last = value;
  bucket_->weight += weight;
}

void SeriesFilter::finish_bucket(Values& out) {
  if (!bucket_) return;
  const double begin_s =
      static_cast<double>(bucket_->number) * static_cast<double>(every_ns_) / 1e9;
  const long double mean = bucket_->sum / static_cast<long double>(bucket_->weight);
  out.add(begin_s, is_mean_ ? static_cast<double>(mean) : bucket_->last);
  bucket_.reset();
}

}  // namespace trainscope
