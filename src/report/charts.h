// The charts of a run that pictures show: which metrics, in which unit, under which names.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/model.h"
#include "report/picture/picture.h"

namespace trainscope {

// The series of a metric that a chart has a line for.
struct ChartMetric {
  std::string_view metric;
  std::string_view name;                          // of its lines, before their labels
  std::string_view label = "", label_value = "";  // only the series with this label; "": all
};

struct Chart {
  std::string_view name, title, y_name, help;
  std::string_view unit;  // of the lines; "%" for shares
  bool from_zero = true;
  std::span<const ChartMetric> metrics;
  bool stops_in_pauses = false;  // of the training
};

std::span<const Chart> charts();
const Chart* find_chart(std::string_view name);

// The lines of a chart, `most` of them at most: those with the largest means. An Error if the run
// has none, with its reason.
struct ChartLines {
  std::vector<PictureLine> lines;
  size_t left_out = 0;
};
Result<ChartLines> read_chart(const RunView& run, const Chart& chart, size_t most);

}  // namespace trainscope
