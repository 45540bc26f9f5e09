// The processes of the job as the source `job` saw them at its last sample.
//
// Every new process of the machine has to be looked at to know whether it is the job's. One source
// does so; the others take what it found, if that was just now, and look themselves if not.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

namespace trainscope {

class JobRoster {
 public:
  struct Member {
    pid_t pid = 0;
    int64_t start_ticks = 0;  // pids are given out again
  };
  struct Snapshot {
    std::vector<Member> members;  // parents first
    int64_t seen_pid = -1;        // the last pid that was given out before
    int64_t at_ns = INT64_MIN;    // on the monotonic clock
  };

  void put(Snapshot now) {
    const std::lock_guard lock(mutex_);
    snapshot_ = std::move(now);
  }
  Snapshot get() const {
    const std::lock_guard lock(mutex_);
    return snapshot_;
  }

 private:
  mutable std::mutex mutex_;
  Snapshot snapshot_;
};

}  // namespace trainscope
