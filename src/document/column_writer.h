// Writes the bytes of TSC1: a header in JSON, then arrays of 64-bit floats.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"

namespace trainscope {

// One series: its header, and arrays that are all equally long.
struct ChartColumn {
  Json header;
  std::vector<std::pair<std::string_view, std::vector<double>>> arrays;
};

// `header` is that of all columns; it gets their list.
std::string write_columns(Json header, const std::vector<ChartColumn>& columns);

}  // namespace trainscope
