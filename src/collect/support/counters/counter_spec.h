// The SPEC of --counter: a number at a position in a file (docs/guide/counters.md has the grammar).
//
// Guarantees: accepts the documented grammar of Score-P's fileparser; an invalid SPEC is an Error
// with the SPEC and the position. Limits: kMaxCounters of them in one run.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/metric.h"

namespace trainscope {

inline constexpr size_t kMaxCounters = 1000;

// How the bytes at the place become a number.
struct CounterType {
  enum class Number { integer, natural, real };  // int64_t, uint64_t, double
  std::string_view name;
  Number number = Number::integer;
  int base = 0;             // of text: 0 as C writes constants (0x1f, 017), or 16
  size_t binary_bytes = 0;  // 0: it is text
};

struct CounterSpec {
  std::string text;  // the SPEC as it was given
  std::string name;  // without "counter."
  std::string path;  // may be a pattern
  CounterType type;
  // The position. In text: the row by its number, its key or a match, then the column.
  size_t row = 0, column = 0;
  bool has_row = false, has_column = false;
  char separator = ' ';
  std::string key, match;
  uint64_t offset = 0;  // of binary numbers, in bytes
  // What is stored.
  bool from_first = false;  // d: the difference to the first value that was read
  std::string unit = "1";
  Kind kind = Kind::gauge;
};

// One text as --counter or SCOREP_METRIC_FILEPARSER_PLUGIN gives it: one SPEC, or several between
// commas.
Result<std::vector<CounterSpec>> parse_counters(std::string_view text);
// Several such texts; a name that two of them have is an Error.
Result<std::vector<CounterSpec>> parse_counters(const std::vector<std::string>& texts);

}  // namespace trainscope
