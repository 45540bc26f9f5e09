#include "limits/support/timed_work.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "base/clock.h"

namespace trainscope {

namespace {

constexpr int64_t kLookNs = 20 * kNsPerMs;

}  // namespace

TimedWork repeat_for(HeldSignals& signals, size_t threads, int64_t time_ns,
                     const std::function<int(size_t thread, int64_t turn)>& operation) {
  std::atomic<bool> is_over{false};
  std::atomic<size_t> running{threads};
  std::atomic<int64_t> operations{0};
  std::atomic<int> error{0};
  const auto work = [&](size_t thread) {
    int64_t turn = 0;
    int result = kContinue;
    while (!is_over.load(std::memory_order_relaxed)) {
      result = operation(thread, turn);
      if (result != kContinue) break;
      ++turn;
    }
    if (result > 0) error = result;
    operations += turn;
    --running;
  };
  const int64_t begin_ns = monotonic_ns(), end_ns = begin_ns + time_ns;
  std::vector<std::thread> team;
  for (size_t i = 0; i < threads; ++i) team.emplace_back(work, i);
  while (running > 0 && monotonic_ns() < end_ns) {
    const int64_t left_ns = std::max<int64_t>(1, end_ns - monotonic_ns());
    if (!signals.wait(std::min(kLookNs, left_ns))) break;
  }
  is_over = true;
  for (std::thread& thread : team) thread.join();
  return {operations, to_seconds(monotonic_ns() - begin_ns), error};
}

}  // namespace trainscope
