// One line of NVIDIA's tegrastats, which reports the activity of a Jetson board.
//
// Guarantees: fields may be in any order, as they differ from board to board and release to
// release; an unknown field is listed, not guessed; a core that is off and a sensor that reports
// -256 °C are readings without a value. Memory is in MiB whatever unit the line shows. Limits: the
// average after a rail's power, the largest free block and the cached part of swap are ignored:
// they follow from the rest or are irrelevant to a training run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace trainscope {

// One value, under the name and labels that a run gives it. All are gauges.
struct TegraReading {
  std::string_view metric, unit;
  std::vector<std::pair<std::string, std::string>> labels;  // sorted by name
  std::optional<int64_t> raw;                               // nothing: off, or not to be believed
  int64_t numerator = 1, denominator = 1;                   // value = raw * numerator / denominator
};

struct TegraLine {
  // The timestamp of the line in seconds since 1970, read as UTC: the line does not state its time
  // zone.
  std::optional<int64_t> clock_s;
  std::vector<TegraReading> readings;
  std::vector<std::string> unknown;  // unknown words
};

// An Error when nothing in the line is of tegrastats, or a field of it is malformed.
Result<TegraLine> parse_tegrastats(std::string_view line);

// For recognising a file: does the line have the memory and the processors?
bool looks_like_tegrastats(std::string_view line);

}  // namespace trainscope
