// Calls for the parts of some work, on as many threads as there are processors.
#pragma once

#include <cstddef>
#include <functional>

#include "base/result.h"

namespace trainscope {

// task(0) … task(count - 1), in any order and several at the same time, also on this thread. The
// first Error is returned, an exception is thrown on, when all threads have ended.
Status for_each_at_once(size_t count, const std::function<Status(size_t)>& task);

}  // namespace trainscope
