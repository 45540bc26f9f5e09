// The time axis that all plots share.
#pragma once

#include <string>
#include <vector>

namespace trainscope {

struct TimeAxis {
  double begin_s = 0, column_s = 1;
  int columns = 0;
};

struct AxisTick {
  int column = 0;
  std::string text;  // "0:40", "1:02:03", "2d 03:00"
};

// At round times, far enough apart to read them.
std::vector<AxisTick> ticks_of(const TimeAxis& axis);
// Time since the begin of the run.
std::string elapsed_text(double time_s);

}  // namespace trainscope
