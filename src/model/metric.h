// Metrics and their series. Collectors and the GPU process need only this part of the model.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trainscope {

enum class Kind { gauge, counter, state };
std::string_view kind_name(Kind kind);
std::optional<Kind> kind_from_name(std::string_view name);

// Label names and values, sorted by name.
using Labels = std::vector<std::pair<std::string, std::string>>;
// "cpu=all;state=user"; empty for no labels.
std::string labels_text(const Labels& labels);
Labels labels_from_text(std::string_view text);

// The definition of a metric, shared by all its series. The text fields must outlive the program
// (literals).
struct MetricSpec {
  std::string_view name;
  std::string_view unit;  // UCUM: s, By, 1, Cel, W, J, Hz, {task}
  Kind kind = Kind::gauge;
  std::string_view labels;  // "cpu, state": names of its labels, for the reference
  std::string_view help;
};

// A raw value that could not be read at this tick. Never a number that a kernel file can contain.
inline constexpr int64_t kAbsent = INT64_MIN;

// value = raw * numerator / denominator: the store keeps the kernel's integers unchanged.
struct Scale {
  int64_t numerator = 1;
  int64_t denominator = 1;
  double apply(int64_t raw) const {
    return static_cast<double>(raw) * static_cast<double>(numerator) /
           static_cast<double>(denominator);
  }
  bool operator==(const Scale&) const = default;
};

enum class SeriesStatus { ok, absent, stale };
std::string_view status_name(SeriesStatus status);

struct Series {
  std::string metric;
  Labels labels;
  std::string unit;
  Kind kind = Kind::gauge;
  bool derived = false;
  SeriesStatus status = SeriesStatus::ok;
  std::string reason;  // why absent or stale
  std::string remedy;  // what to do about it
};

// "metric{k=v;k=v}": one text for a series, as in wide CSV headers.
std::string series_text(const Series& series);

}  // namespace trainscope
