// Keeps the job's output in the run folder: the first 16 MiB and the last 16 MiB or more.
//
// Fed by the copy pipe and by regular files that the job writes itself. Runs on a thread of its
// own: a disk that hangs costs the copy, never the user's output. How far a file was read is kept
// in the shared memory: a recorder that is restarted goes on there.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "record/shared.h"

namespace trainscope {

class OutputLog {
 public:
  // `pipe_fd`: the read end of the copy pipe, non-blocking. `followed`: descriptors of the job that
  // are regular files. Both stay the caller's.
  // `observer` is shown the bytes of stream i as they come: 0 is the pipe, the others the files.
  // What is taken together has one time: when it was taken, on CLOCK_MONOTONIC.
  using OutputObserver =
      std::function<void(size_t stream, std::string_view bytes, int64_t time_ns)>;
  OutputLog(std::string run_folder, int pipe_fd, const std::vector<int>& followed, Shared& shared,
            OutputObserver observer);

  struct Taken {
    int64_t bytes = 0;  // in all
    bool more = false;  // some was left for the next time
  };
  // Shows what is there now, a megabyte of each stream at most.
  Taken search();
  // Writes what was shown to the disk, however long that takes; returns the bytes that are lost.
  int64_t keep_searched();
  // Bytes that were not shown yet, and that are not in output.log; may be asked by another thread.
  int64_t unsearched() const;
  int64_t unkept() const;
  int pipe_fd() const { return pipe_fd_; }
  // Our own descriptors of the files.
  std::vector<int> files() const;

 private:
  struct Followed {
    UniqueFd fd;
    SharedFollowed* at = nullptr;
    size_t stream = 0;
  };
  void search_pipe(int64_t time_ns, Taken& taken);
  void search_file(Followed& file, int64_t time_ns, Taken& taken);
  int64_t keep_file(Followed& file);
  int64_t in_pipe() const;
  // Returns the bytes that are lost.
  int64_t keep(std::string_view bytes);
  bool open_part(const std::string& name);

  std::string folder_;
  OutputObserver observer_;
  int pipe_fd_;
  Shared* shared_;
  std::string waiting_;  // of the pipe: shown, not kept
  std::vector<Followed> followed_;
  UniqueFd file_;
  size_t in_file_ = 0;
  bool is_head_ = true;
};

}  // namespace trainscope
