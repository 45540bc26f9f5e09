// Keeps the job's output in the run folder: the first 16 MiB and the last 16 MiB or more.
//
// Fed by the copy pipe and by regular files that the job writes itself. Runs on a thread of its
// own: a disk that hangs costs the copy, never the user's output.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"

namespace trainscope {

class OutputLog {
 public:
  // `pipe_fd`: the read end of the copy pipe, non-blocking. `followed`: descriptors of the job that
  // are regular files. Both stay the caller's.
  // `see` is shown the bytes of stream i as they come: 0 is the pipe, the others the files.
  using See = std::function<void(size_t stream, std::string_view bytes)>;
  OutputLog(std::string run_folder, int pipe_fd, const std::vector<int>& followed, See see);

  // Takes what is there now; returns how many bytes of it could not be written and are lost.
  int64_t collect();
  int pipe_fd() const { return pipe_fd_; }
  bool follows_files() const { return !followed_.empty(); }

 private:
  struct Followed {
    UniqueFd fd;
    off_t offset = 0;
  };
  // Returns the bytes that are lost.
  int64_t keep(std::string_view bytes);
  bool open_part(const std::string& name);

  std::string folder_;
  See see_;
  int pipe_fd_;
  std::vector<Followed> followed_;
  UniqueFd file_;
  size_t in_file_ = 0;
  bool is_head_ = true;
};

}  // namespace trainscope
