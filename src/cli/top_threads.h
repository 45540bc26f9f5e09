// What the threads that matter did in the time that `top` shows.
#pragma once

#include <string>
#include <vector>

#include "model/model.h"
#include "tui/tui.h"

namespace trainscope {

struct TopThreads {
  std::vector<ThreadRow> rows;
  std::string reason;  // why there is none
};

// Of each role whose name contains the request's words: where its time went.
Result<TopThreads> read_top_threads(const RunView& run, const ViewRequest& request,
                                    const TimeWindows& windows);

}  // namespace trainscope
