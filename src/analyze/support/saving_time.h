// How much of its long steps a job spends saving.
#pragma once

#include <optional>
#include <vector>

#include "base/result.h"
#include "model/finding.h"
#include "model/model.h"

namespace trainscope {

// Of the time of pauses, which are in order, the part in which the job writes, or does next to
// nothing after it has written: it waits for storage. What else it does in them, such as an
// evaluation before the save, is not part of it. Empty: its writes were not recorded, or there are
// no pauses. Of a long run the first hours count. Memory does not grow with the number of samples.
Result<std::optional<double>> saving_in_pauses(const RunView& run, const std::vector<Pause>& pauses,
                                               double begin_s, double end_s);

}  // namespace trainscope
