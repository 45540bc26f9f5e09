#include "limits/support/timed_work.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "base/clock.h"
#include "limits/support/team.h"

namespace trainscope {

namespace {

constexpr int64_t kLookNs = 20 * kNsPerMs;
// For operations in flight, after a signal. A file system that hangs does not end them.
constexpr int64_t kGraceNs = 2 * kNsPerSecond;

}  // namespace

TimedWork repeat_for(HeldSignals& signals, size_t threads, int64_t time_ns,
                     const std::function<int(size_t thread, int64_t turn)>& operation) {
  std::atomic<bool> is_over{false};
  std::atomic<size_t> running{threads};
  std::atomic<int64_t> operations{0}, last_ns{0};
  std::atomic<int> error{0};
  const auto work = [&](size_t thread) {
    int64_t turn = 0;
    int result = kContinue;
    do {
      result = operation(thread, turn);
      if (result == kContinue) ++turn;
    } while (result == kContinue && !is_over.load(std::memory_order_relaxed));
    if (result > 0) error = result;
    operations += turn;
    if (--running == 0) last_ns = monotonic_ns();
  };
  const int64_t begin_ns = monotonic_ns(), end_ns = begin_ns + time_ns;
  const auto watch = [&] {
    while (running > 0 && monotonic_ns() < end_ns) {
      const int64_t left_ns = std::max<int64_t>(1, end_ns - monotonic_ns());
      if (!signals.wait(std::min(kLookNs, left_ns))) break;
    }
    is_over = true;
    while (running > 0 && signals.wait(kNsPerMs)) continue;
    for (const int64_t patient_ns = monotonic_ns() + kGraceNs; running > 0;) {
      if (monotonic_ns() > patient_ns) signals.deliver();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  };
  TimedWork done;
  done.status = run_together(threads, work, watch);
  if (error != 0) done.status = Error(std::strerror(error), error);
  done.operations = operations;
  done.seconds = to_seconds(last_ns - begin_ns);
  return done;
}

}  // namespace trainscope
