// Turns what libtorch throws (out of memory, a shape that does not fit) into an Error.
#pragma once

#include <c10/util/Exception.h>

#include <exception>

#include "errors.h"

namespace trainscope::workload {

template <typename Work>
Status guarded(Work work) {
  try {
    return work();
  } catch (const c10::Error& error) {
    return run_failure(error.what_without_backtrace());
  } catch (const std::exception& error) {
    return run_failure(error.what());
  }
}

}  // namespace trainscope::workload
