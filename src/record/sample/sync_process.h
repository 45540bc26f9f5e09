// Syncs files of the run folder in a process of its own.
//
// Guarantees: nobody waits: a disk may take minutes for a sync, and a thread that is held in one
// would keep the recorder from ending. The process outlives the recorder if it must. Limits: one
// sync at a time.
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
  // What became of it, once; nothing while it runs.
  std::optional<Outcome> poll();

 private:
  pid_t pid_ = 0;
};

}  // namespace trainscope
