// How well a run was sampled: ticks taken and missed, gaps with their reasons, lateness.
#pragma once

#include "model/model.h"
#include "store/read/run_index.h"

namespace trainscope {

// `duration_s` as the run has it; rows after it must have been dropped. At most `most_gaps` gaps
// are listed, the longest, and the others are counted.
Sampling summarize_sampling(const RunIndex& index, const Manifest& manifest, double duration_s,
                            size_t most_gaps);

// The time of the last row of all streams; 0 without rows.
double last_row_s(const RunIndex& index);

}  // namespace trainscope
