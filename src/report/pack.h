// Bytes inside of an HTML file.
#pragma once

#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "base/result.h"

namespace trainscope {

// gzip; the same bytes always give the same result.
Result<std::string> gzipped(std::string_view bytes);
// Base64 (RFC 4648) with padding, on one line.
std::string base64(std::string_view bytes);
// JSON that no HTML parser takes for markup: `<` is \u003c.
std::string json_for_html(const Json& json);

// Columns (TSC1) whose numbers have about five significant digits: charts need no more, and a
// report is half as large. Rounding is monotonic: min <= mean <= max stays true.
std::string rounded_columns(std::string columns);

}  // namespace trainscope
