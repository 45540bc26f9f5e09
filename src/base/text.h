// Words, numbers and durations as people write them; and back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace trainscope {

std::vector<std::string_view> split(std::string_view text, char separator);
// Fields between runs of spaces and tabs.
std::vector<std::string_view> fields(std::string_view text);
std::string_view trim(std::string_view text);
std::string lower(std::string_view text);

// The whole text as a decimal number, or nothing.
std::optional<int64_t> parse_integer(std::string_view text);
std::optional<double> parse_number(std::string_view text);

// "100ms", "75m", "1h30m", "2.5 s", "250us", "1d"; a bare number is seconds. Nanoseconds, > 0.
Result<int64_t> parse_duration(std::string_view text);
// The same, but zero is a duration too: "0", "0s", "0ms".
Result<int64_t> parse_duration_or_zero(std::string_view text);

// A sampling period: as parse_duration, but a bare number is an Error. Some people mean seconds by
// it, others milliseconds.
Result<int64_t> parse_period(std::string_view text);

// None of these prints an exponent.
// 0.000012, 0.98, 12.3, 5850: three significant digits, or the nearest integer from 1000 on.
std::string number_text(double value);
// 46 µs, 100 ms, 1.5 s, 1 min 40 s, 1 h 15 min, 2 d 3 h
std::string duration_text(double seconds);
// 12 B, 1.50 KiB, 300 MiB
std::string bytes_text(double bytes);
// 42, 5850, 12.3k, 4.5M: three significant digits and an SI suffix from 10,000 on.
std::string count_text(double value);
// "1 run", "3 runs".
std::string counted(int64_t count, std::string_view thing);

// Columns that a terminal uses to show UTF-8 text (wide characters count 2).
size_t display_width(std::string_view utf8);

// Replaces every byte that a terminal would obey (control characters) and invalid UTF-8 by '?', and
// a newline by ⏎.
std::string printable(std::string_view text);

// Appends a field of CSV (RFC 4180): quoted if it contains a comma, a quote or a line end.
void append_csv_field(std::string& out, std::string_view text);

// The arguments of a command as one would type them.
std::string command_text(const std::vector<std::string>& command);

}  // namespace trainscope
