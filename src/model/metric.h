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
// "" if there is no label of this name. Valid as long as the labels are.
std::string_view value_of_label(const Labels& labels, std::string_view name);

// Whether `info` shows a metric without --all, and where.
struct InfoPlace {
  int order = 0;            // among the main metrics; 0: shown only with --all
  bool skips_idle = false;  // without series in which nothing happened: there may be many
  std::string_view label = "", label_value = "";  // only the series with this label; "": all

  constexpr InfoPlace unless_idle() const { return {order, true, label, label_value}; }
  constexpr InfoPlace only(std::string_view name, std::string_view value) const {
    return {order, skips_idle, name, value};
  }
  bool operator==(const InfoPlace&) const = default;
};
// A main metric. Orders from 100: training, 200: job, 300: machine, 400: cgroup, 500: sensors,
// 600: GPUs.
constexpr InfoPlace in_info(int order) { return {order, false, "", ""}; }

// What a metric is, once for all its series. The text fields must outlive the program (literals).
struct MetricSpec {
  std::string_view name;
  std::string_view unit;  // UCUM: s, By, 1, Cel, W, J, Hz, {task}
  Kind kind = Kind::gauge;
  std::string_view labels;  // "cpu, state": names of its labels, for the reference
  std::string_view help;
  InfoPlace info = {};
  std::string_view formula = "";  // of a derived metric; "": measured or reported

  bool is_derived() const { return !formula.empty(); }
  bool is_main() const { return info.order > 0; }
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
  std::string reason;   // why absent or stale
  std::string remedy;   // what to do about it
  double period_s = 0;  // between two samples; 0: they are not taken at equal intervals
};

// Only on reading, of a rank that records the machine: CPU time of other ranks of its job there.
inline constexpr const char* kRanksCpuTime = "other_ranks.cpu.time";

// "metric{k=v;k=v}": one text for a series, as in wide CSV headers.
std::string series_text(const Series& series);

}  // namespace trainscope
