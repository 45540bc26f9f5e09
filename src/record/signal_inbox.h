// Signals as messages: what arrived, from where and when.
//
// Guarantees: blocking system calls are interrupted (no SA_RESTART), so a slow terminal cannot hold
// a signal up; signals that were ignored when we started stay ignored, for us and for the job
// (nohup). Limits: one inbox a process.
#pragma once

#include <signal.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "base/fd.h"

namespace trainscope {

struct SignalNote {
  int number = 0;
  bool from_kernel = false;  // the terminal sent it, so the whole foreground group has it
  int64_t time_ns = 0;
};

class SignalInbox {
 public:
  static Result<SignalInbox> open();
  SignalInbox(SignalInbox&&) = default;
  SignalInbox& operator=(SignalInbox&&) = default;
  // Gives back what it had changed: the next run of --repeat starts from the user's dispositions.
  ~SignalInbox() { restore(); }

  int fd() const { return read_end_.get(); }
  std::optional<SignalNote> next();
  // In the child, before exec.
  void restore() const;

 private:
  SignalInbox() = default;
  UniqueFd read_end_, write_end_;
  std::vector<std::pair<int, struct sigaction>> before_;
};

}  // namespace trainscope
