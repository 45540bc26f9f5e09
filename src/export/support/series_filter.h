// What an export writes of one series: its samples, or rates of a counter, or one value per bucket.
//
// A rate is the increase since the sample before, divided by the time since then, at the time of
// the later sample. There is none for the first sample, after a gap (three or more samples in a row
// are missing), and where the counter went back: it began anew. Of samples with the same time the
// last counts. In a bucket, increases and times are added up before they are divided.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "export/export.h"

namespace trainscope {

// Present values of one series, in order of time.
struct Values {
  std::vector<double> time_s, value;

  void add(double time, double number) {
    time_s.push_back(time);
    value.push_back(number);
  }
};

Values present_values(Points points);

// Derived counters are not turned into rates: they are values that were computed already.
bool becomes_rate(const Series& series, const ExportOptions& options);
// Name, unit and kind of what an export writes of a series.
Series exported_series(const Series& series, const ExportOptions& options);

class SeriesFilter {
 public:
  SeriesFilter(const Series& series, const ExportOptions& options);

  // The next samples. A bucket is in the result of the call in which the next one begins.
  Values add(Values samples);
  // Appends the bucket that has not ended yet, if it has a value.
  void finish_bucket(Values& out);

 private:
  struct Bucket {
    int64_t number = 0;
    long double sum = 0;  // of values, or of increases
    double last = 0;
    double weight = 0;  // so many values, or seconds
  };
  // Takes one sample into the open bucket, after it has given the bucket before to `out`.
  void add_to_bucket(double time_s, double value, double weight, Values& out);
  void add_increase(double time_s, double value, Values& out);

  bool is_rate_, is_mean_;
  int64_t every_ns_;
  double longest_s_;  // between two samples without a gap
  std::optional<double> before_s_;
  double before_ = 0;
  std::optional<Bucket> bucket_;
};

}  // namespace trainscope
