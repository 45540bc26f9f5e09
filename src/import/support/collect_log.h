// The lines of the collect script's five files: their columns and meanings.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trainscope {

// How a number of the logs becomes a value: % and suffixes are taken off first.
enum class Reading { plain, percent, idle_percent, kilobytes };

struct LogField {
  size_t column;
  const char* metric;
  const char* unit;
  const char* labels;
  Reading reading;
  double factor;        // number x factor = value
  int64_t denominator;  // stored as value x denominator
};

struct LogFile {
  const char* name;
  const char* heading;  // the first word of each row; "" if there is none
  size_t columns;
  std::span<const LogField> fields;
};

std::span<const LogFile> log_files();

// The values of one line, one per field of the file. Returns "", or the problem with the line.
std::string parse_log_line(const LogFile& file, std::string_view line,
                           std::vector<int64_t>& values);

}  // namespace trainscope
