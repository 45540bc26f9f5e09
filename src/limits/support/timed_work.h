// Operations on storage, repeated on several threads for a while.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "base/result.h"
#include "limits/support/held_signals.h"

namespace trainscope {

inline constexpr int kContinue = 0, kAllDone = -1;

struct TimedWork {
  int64_t operations = 0;
  double seconds = 0;  // until the last operation in flight has ended
  Status status;       // the Error of an operation that failed, or of threads that did not start

  double per_second() const { return static_cast<double>(operations) / seconds; }
};

// Calls `operation(thread, turn)` on each thread with turn = 0, 1, 2, … until the time is over, a
// signal comes, or it returns something else than kContinue: an errno, or kAllDone, after which its
// thread ends. Every thread calls it at least once. If an operation does not end soon after a
// signal, the signal ends the process.
TimedWork repeat_for(HeldSignals& signals, size_t threads, int64_t time_ns,
                     const std::function<int(size_t thread, int64_t turn)>& operation);

}  // namespace trainscope
