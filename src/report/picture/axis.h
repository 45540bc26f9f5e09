// Axes of pictures: where ticks are, and how their numbers are written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trainscope {

struct Tick {
  double value = 0;  // in the unit of the data
  std::string text;
};

struct Axis {
  double low = 0, high = 1;  // in the unit of the data; low < high
  std::vector<Tick> ticks;
  std::string unit;  // of the numbers: "ms", "MiB/s", "%", "" for a plain number
};

// Of values in a UCUM unit. `from_zero`: the axis begins at 0 if no value is below.
Axis value_axis(double low, double high, std::string_view unit, bool from_zero);
// Of time since t = 0, from `begin_s` to `end_s` exactly.
Axis time_axis(double begin_s, double end_s);

}  // namespace trainscope
