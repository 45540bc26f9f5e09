// Operations on storage, repeated on several threads for a while.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "limits/support/scratch.h"

namespace trainscope {

inline constexpr int kContinue = 0, kAllDone = -1;

struct TimedWork {
  int64_t operations = 0;
  double seconds = 0;  // until the last operation in flight has ended
  int error = 0;       // errno of an operation that failed; 0: none did

  double per_second() const { return static_cast<double>(operations) / seconds; }
};

// Calls `operation(thread, turn)` on each thread with turn = 0, 1, 2, … until the time is over, a
// signal comes, or it returns something else than kContinue: an errno, or kAllDone, after which its
// thread ends.
TimedWork repeat_for(HeldSignals& signals, size_t threads, int64_t time_ns,
                     const std::function<int(size_t thread, int64_t turn)>& operation);

}  // namespace trainscope
