// Stores the job's output in the run folder, and when it was read: the first 16 MiB and the last 16
// MiB or more.
//
// Reads the copy pipe and regular files that the job writes itself. Runs on its own thread: a disk
// that hangs affects the copy, never the user's output. The position in a file is in the shared
// memory: a restarted recorder continues there.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "record/intake/output_dates.h"
#include "record/sample/shared.h"

namespace trainscope {

class OutputLog {
 public:
  // `pipe_fd`: the read end of the copy pipe, non-blocking. `followed`: descriptors of the job that
  // are regular files. The caller owns both. `observer` gets the bytes of stream i as they arrive:
  // 0 is the pipe, the others are the files. Bytes that are read together have the same timestamp:
  // when they were read, on CLOCK_MONOTONIC.
  using OutputObserver =
      std::function<void(size_t stream, std::string_view bytes, int64_t time_ns)>;
  OutputLog(std::string run_folder, int pipe_fd, const std::vector<int>& followed, Shared& shared,
            OutputObserver observer);

  struct Taken {
    int64_t bytes = 0;  // in all
    bool more = false;  // some was left for the next time
  };
  // Passes available bytes to the observer, at most a megabyte per stream.
  Taken search();
  // Writes the observed bytes to the disk, however long that takes; returns the number of lost
  // bytes.
  int64_t keep_searched();
  // Bytes that were not observed yet, and bytes that are not in output.log; may be called from
  // another thread.
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
  // Notes what a recorder that was killed had written of a file.
  void settle_write(SharedFollowed& at) const;
  int64_t in_pipe() const;
  // Returns the bytes that are lost. `at`: of the file that they are from; nullptr: of the pipe.
  int64_t keep(std::string_view bytes, SharedFollowed* at);
  bool open_part(const std::string& name);
  void begin_part();

  std::string folder_;
  OutputObserver observer_;
  int pipe_fd_;
  Shared* shared_;
  std::string waiting_;  // of the pipe: observed, not stored
  std::vector<Followed> followed_;
  UniqueFd file_;
  OutputDates dates_;
  int64_t searched_ns_ = 0;  // the time of what was searched last
  size_t in_file_ = 0;
  bool is_head_ = true;
};

}  // namespace trainscope
