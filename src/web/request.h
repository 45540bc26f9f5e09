// A request as the routes see it, and the parser of its target.
//
// Guarantees: any bytes are refused or taken apart, in linear time. The path is not percent-decoded
// (nothing we serve needs it), values of the query once. Limits: 4 KiB, 16 parameters.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace trainscope {

struct WebTarget {
  std::string path;                          // "/api/run/6a3efywy0f/columns"
  std::map<std::string, std::string> query;  // decoded

  // Nothing if the query does not have it.
  const std::string* find(const std::string& name) const;
};
inline constexpr size_t kMostTargetBytes = 4096, kMostParameters = 16;

// "/path?name=value&name=value". An Error states what is malformed; ENOENT in it: a path that no
// page has.
Result<WebTarget> parse_target(std::string_view target);

// Values of a query. Nothing if the text is anything else.
std::optional<double> parse_query_number(std::string_view text);  // finite
std::optional<size_t> parse_query_count(std::string_view text);   // digits only
// "3,4,5"; an Error names the part that is wrong.
Result<std::vector<size_t>> parse_query_counts(std::string_view text, size_t most);

// The id of a run as a browser may name it.
bool is_run_id_text(std::string_view text);
Result<std::vector<std::string>> parse_run_ids(std::string_view text, size_t most);

}  // namespace trainscope
