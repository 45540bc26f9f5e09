// Which GPUs of the machine the job of a run computes on, by the memory that it has in them.
//
// Limits: where the driver does not see the job's processes, as in some containers, nothing is
// known.
#pragma once

#include <set>
#include <string>

#include "base/result.h"
#include "model/model.h"

namespace trainscope {

// The labels of the GPUs in which the job has memory in this time; empty: unknown.
Result<std::set<std::string>> gpus_of_job(const RunView& run, double begin_s, double end_s);

}  // namespace trainscope
