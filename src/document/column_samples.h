// Columns of samples that are few enough to be given as they are, and the headers of all columns.
#pragma once

#include <string>

#include "base/json.h"
#include "base/result.h"
#include "document/columns.h"

namespace trainscope {

struct TimeSpan {
  double from_s = 0, to_s = 0;

  double length_s() const { return to_s - from_s; }
};

Json column_header(const RunView& run, size_t series);
// `window_s`: null for samples.
Json columns_header(const RunView& run, const TimeSpan& span, const Json& window_s);

Result<std::string> sample_columns(const RunView& run, const ColumnsQuery& query,
                                   const TimeSpan& span);

}  // namespace trainscope
