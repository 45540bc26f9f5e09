// The plots of `top`: which series of a run they show, and what of them.
#pragma once

#include <string>
#include <vector>

#include "model/model.h"
#include "tui/tui.h"

namespace trainscope {

struct TopRows {
  std::vector<PlotRow> rows;
  size_t left_out = 0;  // series that match but are too many
  std::string reason;   // why there is no row
};

// Those of the request's component, or those that match its filter.
Result<TopRows> read_top_rows(const RunView& run, const ViewRequest& request,
                              const TimeWindows& windows);

// The values of a plot. A sample says what was until the next one is due: windows that are shorter
// than the period show it too.
std::vector<std::optional<double>> plotted_values(const WindowFold& fold,
                                                  const TimeWindows& windows, double period_s);

// Processes and threads of the job, its memory and its CPUs, as of the last of the windows in which
// they were recorded; "" if they were not.
Result<std::string> job_line(const RunView& run, const TimeWindows& windows);

}  // namespace trainscope
