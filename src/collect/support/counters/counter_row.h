// Extracts the number of a counter's SPEC from the current content of its file.
//
// Guarantees: a number that may be cut short, is missing or does not fit is absent. Limits: 64-bit
// integers and doubles; a number of text is at most 63 characters long.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "collect/support/counters/counter_spec.h"
#include "collect/support/counters/row_pattern.h"

namespace trainscope {

enum class Extraction {
  found,
  no_row,
  no_column,
  not_a_number,
  out_of_range,
  torn,        // the file ends in the middle of it
  too_costly,  // the pattern takes too many steps
};

// A file's content, cut into rows once for all its counters.
struct CounterText {
  std::string_view bytes;
  std::vector<std::string_view> rows;  // without their newlines
  bool last_is_torn = false;           // the last row lacks its newline, and should have one

  // Empty content has no row.
  void assign(std::string_view content, bool newline_expected);
};

// The 64 bits of an int64_t, a uint64_t or a double, depending on the type. `pattern` is the SPEC's
// match, null if it has none.
Extraction extract(const CounterSpec& spec, RowPattern* pattern, const CounterText& text,
                   uint64_t& bits);
Extraction extract_binary(const CounterType& type, std::string_view bytes, uint64_t& bits);

// The stored value: an int64_t, or the bits of a double that is finite and not -0. `first` is
// subtracted. kAbsent if it does not fit.
int64_t stored_value(const CounterType& type, uint64_t bits, uint64_t first);

// "row 7 does not exist", for the counter that has no value yet.
std::string extraction_error_text(const CounterSpec& spec, Extraction extraction);

}  // namespace trainscope
