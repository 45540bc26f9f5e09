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

// Only the two files stay open: the reader of the job's output must not wait for us.
void keep_only(int& segment_fd, int& tail_fd) {
  constexpr int kSegment = 0, kTail = 1;
  // Moved aside first: either may have the number that the other is to get.
  if (segment_fd >= 0) segment_fd = ::dup(segment_fd);
  if (tail_fd >= 0) tail_fd = ::dup(tail_fd);
  if (segment_fd >= 0) segment_fd = ::dup2(segment_fd, kSegment);
  if (tail_fd >= 0) tail_fd = ::dup2(tail_fd, kTail);
  close_range_of(kTail + 1);
}

int sync_all(const SyncProcess::Request& request) {
  int segment_fd = request.segment_fd, tail_fd = request.tail_fd;
  keep_only(segment_fd, tail_fd);
  if (segment_fd >= 0 && !sync_data(segment_fd, "")) return kSegmentFailed;
  if (tail_fd >= 0 && !sync_data(tail_fd, "")) return kTailFailed;
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
