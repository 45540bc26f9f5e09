#include "record/sample/sync_process.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "format/format.h"

namespace trainscope {

namespace {

constexpr int kSegmentFailed = 1, kTailFailed = 2;

int sync_all(const SyncProcess::Request& request) {
  // Only the two files stay open: the reader of the job's output must not wait for us. They are not
  // moved, because a recorder without a free descriptor could not.
  close_all_but({request.segment_fd, request.tail_fd});
  if (request.segment_fd >= 0 && !sync_data(request.segment_fd, "")) return kSegmentFailed;
  if (request.tail_fd >= 0 && !sync_data(request.tail_fd, "")) return kTailFailed;
  // A failure of these harms no samples.
  if (request.folder.empty()) return 0;
  if (request.is_first) (void)settle_run(request.folder, false);
  (void)sync_folder(request.folder);
  if (request.is_first) (void)sync_folder(request.folder.substr(0, request.folder.rfind('/')));
  return 0;
}

}  // namespace

bool SyncProcess::start(const Request& request) {
  const pid_t pid = ::fork();
  if (pid < 0) return false;
  if (pid == 0) {
    prctl(PR_SET_NAME, "trainscope-syn");
    ::_exit(sync_all(request));
  }
  pid_ = pid;
  return true;
}

std::optional<SyncProcess::Outcome> SyncProcess::poll() {
  int status = 0;
  if (pid_ == 0) return std::nullopt;
  const pid_t ended = ::waitpid(pid_, &status, WNOHANG);
  if (ended == 0) return std::nullopt;
  pid_ = 0;
  if (ended < 0 || !WIFEXITED(status)) return Outcome::unknown;
  switch (WEXITSTATUS(status)) {
    case 0:
      return Outcome::done;
    case kSegmentFailed:
      return Outcome::segment_failed;
    case kTailFailed:
      return Outcome::tail_failed;
    default:
      return Outcome::unknown;
  }
}

}  // namespace trainscope
