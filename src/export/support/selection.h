// The part of a run that an export takes: which series, and their values window by window.
//
// Guarantees: memory stays bounded however long the run is; windows follow each other without
// overlap.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "export/export.h"
#include "export/support/series_filter.h"

namespace trainscope {

// Indices of the selected series that are not absent. An Error for a name or pattern (base/glob.h)
// that the run does not have, with similar ones.
Result<std::vector<size_t>> select_series(const RunView& run,
                                          const std::vector<std::string>& metrics);

// The same among these series, without an Error.
std::vector<size_t> matching_series(const std::vector<Series>& all,
                                    const std::vector<std::string>& metrics);

// A stretch of time with the values of each selected series, in their order.
struct Window {
  std::vector<Values> series;
};

// Where a sample of a window is.
struct SampleAt {
  double time_s = 0;
  uint32_t series = 0, sample = 0;
};

// Those of the same time stay in their order.
void sort_by_time(std::vector<SampleAt>& samples);
// All samples of a window in order of time; those of the same time in the order of their series.
using TakeSample = std::function<Status(const SampleAt&)>;
Status for_each_sample(const Window& window, const TakeSample& take);

Status for_each_window(const RunView& run, const std::vector<size_t>& selected,
                       const ExportOptions& options,
                       const std::function<Status(const Window&)>& take);

}  // namespace trainscope
