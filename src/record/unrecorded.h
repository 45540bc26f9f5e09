// A job whose run cannot be stored: it runs all the same, without a record.
//
// Guarantees: output, signals, --for, --after and the outcome are those of a recorded job; one
// message states why there is no record. Limits: --id-file is not written, and reported progress is
// discarded.
#pragma once

#include "base/result.h"
#include "record/record.h"

namespace trainscope {

// `reason`: why no run could be created.
Result<RecordOutcome> run_unrecorded(const RecordOptions& options, const Error& reason);

}  // namespace trainscope
