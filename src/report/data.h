// What the page of a report reads: the documents of its runs and their series (docs/web-api.md).
#pragma once

#include "base/json_fwd.h"
#include "base/result.h"
#include "report/report.h"

namespace trainscope {

inline constexpr size_t kReportWindows = 1500;
inline constexpr size_t kMostReportSeries = 600;
// Of the series of all runs together, in base64.
inline constexpr size_t kReportSeriesBytes = size_t{4} << 20;

Result<Json> report_data(const ReportContent& content);

// The series of a run as columns (TSC1), compressed and in base64: samples if they are few, windows
// otherwise, wider ones if they would take more than `most_bytes`.
Result<std::string> packed_series(const RunView& run, size_t most_bytes);

}  // namespace trainscope
