// When the job's output was read: records beside each part of output.log (docs/run-format.md).
//
// Guarantees: a record is whole or known to be damaged. However long a job prints, the records of a
// part take a few megabytes at most: the pause between them doubles with their number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace trainscope {

inline constexpr size_t kOutputTimeBytes = 16;
inline constexpr int64_t kUnknownPause = std::numeric_limits<int64_t>::max();

// The bytes from `offset` of the part on, up to the next one, were read from time_ns on
// (CLOCK_MONOTONIC), and less than within_ns later.
struct OutputTime {
  int64_t time_ns = 0;
  size_t offset = 0;
  int64_t within_ns = 0;  // kUnknownPause: a later one is damaged
};

// Of "output.log": "output.times".
std::string output_times_name(std::string_view part);

// How long after record `index` of a part the next one may come.
int64_t output_pause_ns(size_t index);

void append_output_time(std::string& out, int64_t time_ns, size_t offset);
// In place of records that could not be written.
void append_lost_output_times(std::string& out);

// Those that are whole; the time of one before a damaged one is less exact.
std::vector<OutputTime> parse_output_times(std::string_view bytes);

}  // namespace trainscope
