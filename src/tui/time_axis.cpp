#include "tui/time_axis.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

namespace trainscope {

namespace {

constexpr double kTickSteps[] = {1,     2,     5,      10,     15,     30,     60,    120,
                                 300,   600,   900,    1800,   3600,   7200,   10800, 21600,
                                 43200, 86400, 172800, 432000, 864000, 2592000};
constexpr int kTickColumns = 10;  // at least, from one to the next

}  // namespace

std::string elapsed_text(double time_s) {
  const auto s = static_cast<int64_t>(std::floor(time_s + 1e-6));
  if (s >= 86400) {
    return fmt::format("{}d {:02}:{:02}", s / 86400, s / 3600 % 24, s / 60 % 60);
  }
  if (s >= 3600) return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
  return fmt::format("{}:{:02}", s / 60, s % 60);
}

std::vector<AxisTick> ticks_of(const TimeAxis& axis) {
  double step_s = kTickSteps[std::size(kTickSteps) - 1];
  for (const double candidate : kTickSteps) {
    if (candidate < axis.column_s * kTickColumns) continue;
    step_s = candidate;
    break;
  }
  std::vector<AxisTick> ticks;
  for (double k = std::ceil(axis.begin_s / step_s - 1e-9);; ++k) {
    const double column = std::floor((k * step_s - axis.begin_s) / axis.column_s + 1e-9);
    if (column >= axis.columns) return ticks;
    ticks.push_back({static_cast<int>(column), elapsed_text(k * step_s)});
  }
}

}  // namespace trainscope
