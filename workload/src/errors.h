// Errors are base's; on top of them, which of two exit codes an error leads to.
//
// Arguments or files that the user gave are at fault (exit code 2), unless the error is a run
// failure: out of memory, disk full (exit code 1).
#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace trainscope::workload {

inline constexpr int kRunFailure = -1;  // in the place of an errno, none of which is negative

inline Error run_failure(std::string message) { return Error(std::move(message), kRunFailure); }

inline bool is_run_failure(const Error& error) { return error.error_number() == kRunFailure; }

}  // namespace trainscope::workload
