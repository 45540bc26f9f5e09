// Threads that do the same work at the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace trainscope {

// Processors that this process may use: those of its affinity mask, as far as the quota of its
// cgroup reaches.
size_t usable_processors();

// Calls `work(thread)` on all threads together.
void run_once(size_t threads, const std::function<void(size_t)>& work);

struct BestRound {
  double seconds = 0;  // from the start of the first thread to the end of the last
  int64_t rounds = 0;
};
// Calls `work(thread)` on all threads together, again and again for at least `time_ns` and three
// times, and returns the shortest of these rounds.
BestRound best_round(size_t threads, int64_t time_ns, const std::function<void(size_t)>& work);

}  // namespace trainscope
