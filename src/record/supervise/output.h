// The job's output on its way to the user.
//
// A regular file belongs to the job and is only followed. A pipe or socket goes through one pipe
// per distinct open file, so that stdout and stderr of one file keep their order. A terminal goes
// through an output-only pty. The user's bytes are never dropped; the copy for output.log may be,
// and is counted; kOutputGap stands in their place.
//
// Supervisor and recorder both have the read ends open: the surviving one passes the output on. A
// pipe is passed on by splice(2), so no byte is lost with a killed process; data that must be
// copied is in shared memory.
#pragma once

#include <poll.h>

#include <string>
#include <vector>

#include "base/fd.h"
#include "record/sample/shared.h"

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

  // Bytes of the job have arrived that the reader downstream has no space for.
  bool waits_for_reader(const Shared& shared) const;
  // Events to poll for next; fd -1 if the channel is closed.
  pollfd poll_request(const Shared& shared) const;
  // The reader of a pipe or socket, to be polled for POLLERR and POLLHUP: a silent job then learns
  // at its next write that the reader has left, as without Trainscope.
  pollfd reader() const { return {is_closed() || !is_private_ ? -1 : user_fd_.get(), 0, 0}; }
  // The reader has left: closes our read end (and the recorder's), so that the job's next write
  // fails.
  void downstream_closed(Shared& shared);
  // Moves as many bytes as possible without waiting. `log_fd` gets a copy (-1: none). Returns the
  // bytes passed on.
  size_t pump(Shared& shared, int log_fd);
  // Passes on the bytes that are available now, waiting at most `patience_ms` for a slow reader;
  // later writes of other processes are not waited for.
  void drain(Shared& shared, int log_fd, int patience_ms);

  // At the end of the job: counts what a slow reader kept from the log.
  void note_unlogged(Shared& shared) const;

  bool is_closed() const { return !read_end_; }
  bool is_terminal() const { return is_terminal_; }
  uint32_t index() const { return index_; }
  int read_fd() const { return read_end_.get(); }
  int user_fd() const { return user_fd_.get(); }
  // While a screen covers the terminal, bytes for it are only logged.
  void set_muted(bool is_muted) { is_muted_ = is_muted; }
  void close() {
    both_ends_.reset();
    read_end_.reset();
    user_fd_.reset();
  }
  // The last byte passed on was a newline (or nothing was yet): a status line may be drawn.
  bool at_line_start() const { return at_line_start_; }

 private:
  size_t pump_splice(Shared& shared, int log_fd);
  size_t pump_copy(Shared& shared, int log_fd);
  void watch_both_ends();
  void make_space_downstream(const Shared& shared);
  // Copies to the log what the job's pipe holds and the log lacks; returns how many bytes.
  size_t copy_to_log(int log_fd);
  bool fill(Shared& shared, int log_fd);
  // Says in the log what it lacks, if that is not said yet; false when there is no room for it.
  bool may_log(Shared& shared, int log_fd) const;
  void note_dropped(Shared& shared, int log_fd, int64_t bytes) const;

  Transfer transfer_;
  UniqueFd read_end_, user_fd_;
  UniqueFd both_ends_;  // an epoll of the two, once the reader downstream was slow
  bool is_terminal_;
  bool is_private_;  // a pipe or socket without a name: a reader that has left does not come back
  uint32_t index_;
  size_t logged_ahead_ = 0;  // bytes at the head of the pipe that the log has already
  bool downstream_full_ = false;
  bool at_line_start_ = true;
  bool is_muted_ = false;
};

// Everything about the job's stdout and stderr.
struct OutputPlan {
  std::vector<OutputChannel> channels;
  UniqueFd job_stdout, job_stderr;  // to be the job's 1 and 2; none: inherited
  UniqueFd job_stdin;               // to be the job's 0; none: inherited
  std::vector<int> followed;        // 1 and/or 2 if it is a regular file that we follow
  std::string unseen;               // why we do not see what the job prints; empty: we do
};

Result<OutputPlan> plan_output();

// Copies the size of the user's terminal to the pty.
void copy_window_size(const OutputPlan& plan);

}  // namespace trainscope
