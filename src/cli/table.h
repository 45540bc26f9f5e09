// Text tables for people: columns aligned by display width, and values with their units.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "model/model.h"

namespace trainscope {

inline constexpr const char* kBold = "\x1b[1m";
inline constexpr const char* kDim = "\x1b[2m";
inline constexpr const char* kPlain = "\x1b[0m";

class Table {
 public:
  // A heading that begins with '>' is of a column that is aligned to the right.
  explicit Table(std::vector<std::string> headings);
  void add(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  // Columns of the terminal before the last column begins.
  size_t width_before_last() const;
  // With `width`, the last column is shortened so that lines fit; 0: as long as they are.
  std::string text(bool colour, size_t width, std::string_view indent = "") const;

 private:
  std::vector<size_t> widths() const;
  std::string line(const std::vector<std::string>& cells, const std::vector<size_t>& widths,
                   size_t room) const;

  std::vector<std::string> headings_;
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;
};

// "97%", "1.50 GiB", "12.0 s", "2.40 GHz", "45 °C", "3.1k": a value of a metric with this UCUM
// unit.
std::string value_text(double value, std::string_view unit);
// The same for a counter's rate: "12.3 MiB/s", "0.98 s/s".
std::string rate_text(double rate, std::string_view unit);
std::string percent_text(double ratio);

// At most `width` columns, the end replaced by … when it does not fit.
std::string shortened(std::string_view text, size_t width);

// Columns of the terminal of a descriptor; 0 if it is not a terminal.
size_t terminal_width(int fd);
// Its lines; 0 if it is not a terminal.
size_t terminal_height(int fd);

// "2026-11-15 12:03" in local time, with seconds "2026-11-15 12:03:45"; "" if the text is not a
// time.
std::string local_time_text(const std::string& utc, bool has_seconds = false);

// The outcome of a job in a word or two: "0", "9", "SIGKILL", "time limit", "running".
std::string outcome_text(const Manifest& manifest, RunStatus status);

}  // namespace trainscope
