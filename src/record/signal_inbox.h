// Signals as messages: what arrived, from where and when.
//
// Guarantees: blocking system calls are interrupted (no SA_RESTART), so a slow terminal cannot hold
// a signal up; what the caller ignored or blocked is ignored or blocked in the job (nohup), in
// every run of a series. Limits: one inbox at a time.
#pragma once

#include <signal.h>

#include <cstdint>
#include <optional>

#include "base/fd.h"

namespace trainscope {

struct SignalNote {
  int number = 0;
  bool from_kernel = false;  // the terminal sent it, so the whole foreground group has it
  int64_t time_ns = 0;
};

class SignalInbox {
 public:
  // `ignored_too`: takes the signals that the caller ignores as well; a job may ask for them.
  static Result<SignalInbox> open(bool ignored_too);
  SignalInbox(SignalInbox&&) = default;
  SignalInbox& operator=(SignalInbox&&) = default;
  ~SignalInbox();

  int fd() const { return read_end_.get(); }
  std::optional<SignalNote> next();
  // In the child, before exec: gives back what we had changed.
  static void restore();

 private:
  SignalInbox() = default;
  UniqueFd read_end_, write_end_;
};

}  // namespace trainscope
