// Following a run that is being recorded: when to look again, and when to end.
//
// Guarantees: at most one poll per second, and so few that they take at most a twentieth of a
// core. Files are polled, never watched, because a network file system reports no changes of
// others. When nobody reads stdout any more the process ends, also while the run has nothing new.
// Ctrl-C ends it as any program: no signal is handled.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "export/export.h"
#include "model/model.h"

namespace trainscope {

class FollowPace {
 public:
  // `reader_fd`: what is read by somebody; -1: a file, which needs no reader.
  explicit FollowPace(int reader_fd);
  // Passes on what was printed, and waits until the next poll is due.
  Status pause();
  // CPU time that was used before does not make the next pause longer.
  void begin_again();

 private:
  int reader_fd_;
  int64_t cpu_ns_ = 0;  // of this process, when it began to count
};

// "" while somebody records it, or if the end was recorded; otherwise that nobody does any more.
std::string why_unfinished(const RunView& run);

// Writes the run until it has ended; messages about it go to stderr. `reader_fd` as above.
Status follow_run(const std::string& run_path, const ExportOptions& options,
                  FollowedExport& followed, int reader_fd);

}  // namespace trainscope
