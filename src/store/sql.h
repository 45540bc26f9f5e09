// The virtual table of samples.
#pragma once

#include "base/result.h"
#include "model/model.h"

struct sqlite3;

namespace trainscope {

// What the table `samples` holds of a run at a time.
inline constexpr double kSamplesBytes = 64e6;

// Registers the virtual table `samples` over `run`, which must outlive the connection.
Status add_samples_table(sqlite3* database, const RunView& run, double held_bytes = kSamplesBytes);

}  // namespace trainscope
