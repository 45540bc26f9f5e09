#include "cli/follow.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/clock.h"
#include "base/interrupted.h"
#include "cli/print.h"
#include "store/store.h"

namespace trainscope {

namespace {

constexpr int64_t kLeastPauseNs = kNsPerSecond;
constexpr int64_t kPausePerCpu = 19;  // so that a poll takes a twentieth of the time

int64_t used_cpu_ns() { return clock_ns(CLOCK_PROCESS_CPUTIME_ID); }

// Nothing past the end can be written any more.
bool is_past_end(const RunView& run, const Range& range) {
  constexpr double kLate_s = 1;  // rows of the last second are held back
  return range.end_s && run.duration_s() >= *range.end_s + kLate_s;
}

}  // namespace

FollowPace::FollowPace(int reader_fd) : reader_fd_(reader_fd) { begin_again(); }

Status FollowPace::pause() {
  TS_CHECK_OK(flush_stdout());
  const int64_t used_ns = used_cpu_ns() - cpu_ns_;
  std::array<pollfd, 1> reader = {{{reader_fd_, 0, 0}}};
  poll_whole(reader, std::max(kLeastPauseNs, kPausePerCpu * used_ns));
  if ((reader[0].revents & (POLLERR | POLLHUP)) != 0) {
    ::signal(SIGPIPE, SIG_DFL);
    ::raise(SIGPIPE);
  }
  begin_again();
  return {};
}

void FollowPace::begin_again() { cpu_ns_ = used_cpu_ns(); }

std::string why_unfinished(const RunView& run) {
  if (run.status() == RunStatus::running || !run.manifest().ended.empty()) return "";
  if (!run.manifest().imported_format.empty()) return "";
  return "the recorder of this run is gone: its end was not recorded";
}

Status follow_run(const std::string& run_path, const ExportOptions& options,
                  FollowedExport& followed, int reader_fd) {
  RunFollower follower(run_path, options.steps ? Followed::steps : Followed::samples);
  bool is_over = false;
  {
    TS_TRY(const std::unique_ptr<RunView> whole, follower.open());
    TS_CHECK_OK(followed.begin(*whole));
    is_over = is_past_end(*whole, options.range);
  }
  int64_t whole_due_ns = 0;  // reading the whole run has its own pace: the end is seen in time
  for (FollowPace pace(reader_fd); follower.is_running() && !is_over;) {
    TS_CHECK_OK(pace.pause());
    TS_TRY(std::unique_ptr<RunView> run, follower.read_new());
    if (run == nullptr) continue;
    is_over = is_past_end(*run, options.range);
    if (follower.has_steps() && !followed.needs_whole()) {
      TS_CHECK_OK(followed.add(*run));
    } else if (monotonic_ns() >= whole_due_ns) {
      const int64_t used_ns = used_cpu_ns();
      TS_TRY(run, follower.open());
      TS_CHECK_OK(followed.add_whole(*run));
      whole_due_ns = monotonic_ns() + kPausePerCpu * (used_cpu_ns() - used_ns);
      pace.begin_again();
    }
  }
  TS_TRY(const std::unique_ptr<RunView> whole, open_run(run_path));
  TS_TRY(const std::string fault, followed.finish(*whole));
  for (const std::string& message : {fault, why_unfinished(*whole)}) {
    if (!message.empty()) print_error(message);
  }
  return {};
}

}  // namespace trainscope
