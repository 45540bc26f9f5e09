// Threads that do the same work at the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>

#include "base/result.h"

namespace trainscope {

// Numbers of the processors in the affinity mask of this process; empty if it cannot be read.
std::set<int64_t> allowed_processors();
// How many processors this process may use: the allowed ones, as far as the quota of its cgroup
// reaches.
size_t usable_processors();

// What helps where threads cannot be started.
inline constexpr const char* kMoreThreads = "raise ulimit -u, or pids.max of the cgroup";

// Calls `work(thread)` on so many new threads and `own` on this one, all at the same time, and
// waits for them. An Error if a thread cannot be started: then nothing was called.
Status run_together(size_t threads, const std::function<void(size_t)>& work,
                    const std::function<void()>& own);

struct BestRound {
  double seconds = 0;  // from the start of the first thread to the end of the last
  int64_t rounds = 0;
};
// Calls `work(thread)` on all threads together, again and again for at least `time_ns` and three
// times, and returns the shortest of these rounds. An Error if the threads cannot be started.
Result<BestRound> best_round(size_t threads, int64_t time_ns,
                             const std::function<void(size_t)>& work);

}  // namespace trainscope
