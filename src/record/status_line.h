// One line at the bottom of the user's terminal while the job runs.
//
// Guarantees: it is drawn only where the job's output is at the beginning of a line and is wiped
// before the job's next byte, so that it never stands inside the job's own output. Nothing without
// a terminal, and nothing on a terminal that is another job's now or that does not take any bytes
// (Ctrl-S): nobody waits for it.
#pragma once

#include <cstdint>
#include <string>

#include "record/shared.h"

namespace trainscope {

class StatusLine {
 public:
  // `fd`: the user's terminal, or -1 for none. `cpus`: what the job may use; 0: not known.
  StatusLine(int fd, int64_t limit_ns, double cpus) : fd_(fd), limit_ns_(limit_ns), cpus_(cpus) {}

  bool enabled() const { return fd_ >= 0; }
  void wipe();
  // Draws the line anew when it may be drawn.
  void draw(const Shared& shared, bool at_line_start);
  // A sentence of ours on a line of its own.
  void print_message(int stderr_fd, const std::string& text, bool at_line_start);

 private:
  std::string compose(const Shared& shared);
  bool may_write() const;

  int fd_;
  int64_t limit_ns_;
  double cpus_;
  bool shown_ = false;
  int64_t last_ns_ = 0, last_cpu_us_ = -1, last_disk_bytes_ = -1;
  std::string cpu_text_, disk_text_;
};

}  // namespace trainscope
