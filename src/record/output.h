// The job's output on its way to the user.
//
// A regular file is the job's own and only followed. A pipe or socket goes through one pipe for
// each distinct open file, so that stdout and stderr of one file keep their order. A terminal goes
// through an output-only pty. The user's bytes are never dropped; the copy for output.log may be,
// and is counted.
//
// Supervisor and recorder both hold the read ends: whoever is left passes on. A pipe is passed on
// by splice(2), so a killed process takes no byte with it; what must be copied is kept in shared
// memory.
#pragma once

#include <poll.h>

#include <string>
#include <vector>

#include "base/fd.h"
#include "record/shared.h"

namespace trainscope {

class OutputChannel {
 public:
  enum class Transfer { splice, copy };

  OutputChannel(Transfer transfer, UniqueFd read_end, UniqueFd user_fd, bool is_terminal,
                bool is_private, uint32_t index)
      : transfer_(transfer),
        read_end_(std::move(read_end)),
        user_fd_(std::move(user_fd)),
        is_terminal_(is_terminal),
        is_private_(is_private),
        index_(index) {}

  // What to poll for next; fd -1 when the channel is over.
  pollfd poll_request(const Shared& shared) const;
  // The reader of a pipe or socket, to be watched for POLLERR and POLLHUP: a job that is silent
  // learns at its next write that the reader has left, as bare.
  pollfd reader() const { return {is_closed() || !is_private_ ? -1 : user_fd_.get(), 0, 0}; }
  // Nobody reads any more: close our read end (and the recorder's), so that the job learns it.
  void downstream_closed(Shared& shared);
  // Moves what can be moved now. `log_fd` gets a copy (-1: none). Returns the bytes passed on.
  size_t pump(Shared& shared, int log_fd);
  // Passes on what is there now, waiting for a slow reader for at most `patience_ms`; what others
  // write meanwhile is not waited for.
  void drain(Shared& shared, int log_fd, int patience_ms);

  bool is_closed() const { return !read_end_; }
  bool is_terminal() const { return is_terminal_; }
  uint32_t index() const { return index_; }
  int read_fd() const { return read_end_.get(); }
  int user_fd() const { return user_fd_.get(); }
  void close() {
    read_end_.reset();
    user_fd_.reset();
  }
  // The last byte passed on was a newline (or nothing was yet): a status line may be drawn.
  bool at_line_start() const { return at_line_start_; }

 private:
  size_t pump_splice(Shared& shared, int log_fd);
  size_t pump_copy(Shared& shared, int log_fd);
  bool fill(Shared& shared, int log_fd);

  Transfer transfer_;
  UniqueFd read_end_, user_fd_;
  bool is_terminal_;
  bool is_private_;  // a pipe or socket without a name: a reader that has left does not come back
  uint32_t index_;
  size_t logged_ahead_ = 0;  // bytes at the head of the pipe that the log has already
  bool downstream_full_ = false;
  bool at_line_start_ = true;
};

// Everything about the job's stdout and stderr.
struct OutputPlan {
  std::vector<OutputChannel> channels;
  UniqueFd job_stdout, job_stderr;  // to be the job's 1 and 2; none: inherited
  std::vector<int> followed;        // 1 and/or 2 where it is a regular file that we follow
  int terminal_fd = -1;             // the pty's master when the user has a terminal
};

Result<OutputPlan> plan_output();

// Copies the size of the user's terminal to the pty.
void copy_window_size(const OutputPlan& plan);

}  // namespace trainscope
