// Signals that would end the process while it has files to remove.
#pragma once

#include <signal.h>

#include <cstdint>

namespace trainscope {

// Holds back the signals that end a process and that a program may hold, as long as it exists; one
// that came ends the process afterwards as it would have. A write over the limit of a file's size
// (ulimit -f) fails with EFBIG instead of ending the process. Create it before the threads of the
// measurement.
class HeldSignals {
 public:
  HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  ~HeldSignals() { deliver(); }

  // Waits for so long, or until one of them comes: then false, from now on.
  bool wait(int64_t time_ns);
  bool is_interrupted() const { return caught_ != 0; }
  // Ends the process if one came, whatever its threads do.
  void deliver();

 private:
  sigset_t held_{}, before_{};
  struct sigaction size_limit_ {};
  int caught_ = 0;
};

}  // namespace trainscope
