// Syncs files of the run folder in a separate process.
//
// Guarantees: nothing waits: a sync may take minutes, and a thread blocked in one would keep the
// recorder alive. The process may outlive the recorder. Limits: one sync at a time.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace trainscope {

class SyncProcess {
 public:
  struct Request {
    int segment_fd = -1, tail_fd = -1;  // -1: not this one
    std::string folder;                 // whose names are to be synced; "" when none are new
    // Also everything that was there before this recorder, and the folder's own name.
    bool is_first = false;
  };
  enum class Outcome { done, segment_failed, tail_failed, unknown };

  bool is_running() const { return pid_ != 0; }
  // False when no process is to be had.
  bool start(const Request& request);
  // The result, once; nothing while it runs.
  std::optional<Outcome> poll();

 private:
  pid_t pid_ = 0;
};

}  // namespace trainscope
