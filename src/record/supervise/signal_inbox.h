// Signals as messages: number, sender and time.
//
// Guarantees: blocking system calls are interrupted (no SA_RESTART), so a slow terminal cannot
// delay a signal; signals that the caller ignored or blocked are ignored or blocked in the job
// (nohup), in every run of a series. Limits: one inbox at a time.
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
  // `runs_job`: also takes the signals that the caller ignores, because a job may handle them, and
  // the terminal's stop key.
  static Result<SignalInbox> open(bool runs_job);
  SignalInbox(SignalInbox&&) = default;
  SignalInbox& operator=(SignalInbox&&) = default;
  ~SignalInbox();

  int fd() const { return pipe_.read.get(); }
  std::optional<SignalNote> next();
  // The last SIGINT, SIGTERM, SIGHUP or SIGQUIT since the first inbox was opened, whether one was
  // open when it came or not; 0 when there was none or the caller ignores it.
  static int interrupted_by();
  // In the child, before exec: restores what we had changed.
  static void restore();

  // Holds signals back around a fork. One that arrives before the child has called restore() then
  // ends the child as it would have ended the job, instead of becoming a note of the parent. Not
  // the stop key: the parent waits for the child to start its program.
  class Hold {
   public:
    Hold();
    ~Hold();
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    sigset_t before_{};
  };

 private:
  SignalInbox() = default;
  Pipe pipe_;
};

}  // namespace trainscope
