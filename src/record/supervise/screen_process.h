// A screen over the terminal while the job runs, in its own process (`run --top`).
//
// Guarantees: the screen may hang, crash or be killed without effect on the job; the terminal is as
// before when it is gone, however it ended. The process exists before the recorder and the job, so
// that neither counts it as the job's. Limits: what the job writes to the terminal is not shown
// while it is covered.
#pragma once

#include <sys/types.h>
#include <termios.h>

#include <functional>
#include <optional>
#include <string>

#include "base/fd.h"
#include "record/supervise/output.h"

namespace trainscope {

// Shows the run in this folder until SIGTERM, or until the user closes it; the exit code.
using ScreenFunction = std::function<int(const std::string& run_path)>;

class ScreenProcess {
 public:
  ScreenProcess() = default;  // none
  ScreenProcess(const ScreenProcess&) = delete;
  ScreenProcess& operator=(const ScreenProcess&) = delete;
  ~ScreenProcess() { end(); }

  // Starts the process, which touches nothing before cover().
  Status start(const ScreenFunction& show);
  // Shows the run in this folder. False if that is impossible: then the job's output would not pass
  // through us and would spoil the screen, or the process is gone. The job does not get the
  // terminal's keys: it reads /dev/null.
  bool cover(OutputPlan& output, const std::string& run_path);
  bool is_shown() const { return is_shown_; }
  pid_t pid() const { return pid_; }
  // It has ended and was reaped with this status.
  void note_end(int wait_status);
  // The terminal is given to another job: the screen gives it back, and continues with SIGCONT.
  void pause() const;
  // Ends it, within three seconds.
  void end();

 private:
  bool is_waiting() const;
  std::optional<int> wait_for_end(int64_t limit_ns) const;
  void end_process();
  bool restore_terminal(int patience_ms) const;

  pid_t pid_ = 0;
  UniqueFd run_path_;  // where it reads the path from
  bool is_shown_ = false;
  bool is_spoilt_ = false;       // the terminal shows what is left of the screen
  std::optional<termios> mode_;  // of the terminal before
};

}  // namespace trainscope
