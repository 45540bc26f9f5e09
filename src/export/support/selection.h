// The part of a run that an export takes: which series, and their values window by window.
//
// Guarantees: memory stays bounded however long the run is; windows follow each other without
// overlap.
#pragma once

#include <functional>
#include <vector>

#include "export/export.h"

namespace trainscope {

// "system.cpu.*" and the like; without a * it is the name itself.
bool glob_matches(std::string_view pattern, std::string_view text);

// Indices of the selected series that are not absent. An Error for a name that the run does not
// have, with similar ones.
Result<std::vector<size_t>> select_series(const RunView& run,
                                          const std::vector<std::string>& metrics);

// The present values of one series, resampled if requested.
struct Values {
  std::vector<double> time_s, value;
};

// A stretch of time with the values of each selected series, in their order.
struct Window {
  std::vector<Values> series;
};

Status for_each_window(const RunView& run, const std::vector<size_t>& selected,
                       const ExportOptions& options,
                       const std::function<Status(const Window&)>& take);

}  // namespace trainscope
