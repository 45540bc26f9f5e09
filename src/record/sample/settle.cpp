#include "record/sample/settle.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/fd.h"
#include "format/format.h"

namespace trainscope {

void settle_in_background(const std::string& run_path, bool is_sealed) {
  if (::fork() != 0) return;
  prctl(PR_SET_NAME, "trainscope-syn");
  // The terminal's hang-up and the keys of its user are not for this one.
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  close_range_of(0);
  // No folder of the caller's stays in use.
  if (run_path.starts_with('/')) (void)!::chdir("/");
  (void)settle_run(run_path, is_sealed);
  ::_exit(0);
}

}  // namespace trainscope
