// Work in a child process that may hang, crash or run out of memory without harm to this one.
//
// Guarantees: the answer, or the reason why there is none, comes within the limits; a child whose
// file system hangs (state D, cannot be killed) is not waited for; the child keeps none of the
// caller's files and pipes open, so their readers do not wait for it. Limits: for processes with
// one thread; a child that does not end is reaped by the process that inherits it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"

namespace trainscope {

// Notices when a process makes no progress: it has neither used CPU time for a while nor waits for
// a processor, or too much time has passed in any case.
class StallWatch {
 public:
  StallWatch(pid_t pid, int64_t idle_ns, int64_t total_ns);
  bool is_over();
  // From `from_ns` on, it hangs if it uses no CPU time for `idle_ns`.
  void shorten(int64_t from_ns, int64_t idle_ns) {
    short_from_ns_ = from_ns;
    short_idle_ns_ = idle_ns;
  }
  // Whether the process used no CPU time recently, like one that waits for a file system.
  bool is_idle() const { return idle_; }

 private:
  pid_t pid_;
  int64_t idle_ns_, total_ns_, begin_ns_, progress_ns_;
  int64_t cpu_ns_ = 0;
  int64_t short_from_ns_ = INT64_MAX, short_idle_ns_ = 0;
  bool idle_ = false;
};

// A process that uses no CPU time for so long hangs.
inline constexpr int64_t kHangNs = 1'200 * kNsPerMs;

struct ChildLimits {
  int64_t idle_ns = 0;        // without using CPU time: it hangs
  int64_t total_ns = 0;       // in any case
  int64_t memory_bytes = 0;   // that it may take in addition; 0: as much as this process
  bool heeds_signals = true;  // false: Ctrl-C and the like do not end it
  bool leave_behind = false;  // if it is late it continues alone; false: it is killed
  std::vector<int> kept;      // descriptors that it needs
};

enum class ChildEnd { done, not_started, failed, out_of_memory, interrupted, hung, too_slow };

struct ChildAnswer {
  ChildEnd end = ChildEnd::failed;
  std::string text;  // the result of the work, or the reason why there is none
};

// Makes this process the first to die when memory runs out.
void be_first_oom_victim();

// Runs `work` in a child and returns its answer: all of it, or an error if it is over 16 MiB.
ChildAnswer ask_child(const ChildLimits& limits, const std::function<std::string()>& work);

}  // namespace trainscope
