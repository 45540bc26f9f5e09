// One line at the bottom of the user's terminal while the job runs.
//
// Guarantees: it is drawn only if the job's output is at the beginning of a line and is erased
// before the job's next byte, so that it never mixes with the job's own output. Nothing is drawn
// without a terminal, on a terminal that now belongs to another job, or on one that takes no bytes
// (Ctrl-S): drawing never blocks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "record/sample/shared.h"

namespace trainscope {

class StatusLine {
 public:
  // `fd`: the user's terminal, or -1 for none. `cpus`: CPUs available to the job; 0: unknown.
  StatusLine(int fd, int64_t limit_ns, double cpus) : fd_(fd), limit_ns_(limit_ns), cpus_(cpus) {}

  bool enabled() const { return fd_ >= 0; }
  void wipe();
  // Redraws the line if it may be drawn.
  void draw(const Shared& shared, bool at_line_start);
  // Does a short message go to this descriptor without waiting? A reader that has left and a closed
  // descriptor do not delay it either.
  static bool takes_message(int fd);
  // Prints our own message on a separate line; waits while the descriptor takes no bytes.
  void print_message(int stderr_fd, const std::string& text, bool at_line_start);

 private:
  std::string compose(const Shared& shared);
  bool may_write() const;
  size_t columns() const;  // of the terminal
  std::string_view wipe_text() const;

  int fd_;
  int64_t limit_ns_;
  double cpus_;
  size_t shown_columns_ = 0;  // of the line on the terminal; 0: it is not shown
  int64_t last_ns_ = 0, last_cpu_us_ = -1, last_disk_bytes_ = -1;
  std::string cpu_text_, disk_text_;
};

}  // namespace trainscope
