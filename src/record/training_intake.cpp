#include "record/training_intake.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "base/clock.h"
#include "collect/support/process_tree.h"
#include "record/sampler.h"

namespace trainscope {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kRoomPause(5), kLongRoomPause(250);
// A megabyte at most in this time: 1,000,000 lines a second, and half a core. Who writes into the
// pipe meanwhile need not wake us, which costs the job several microseconds a line.
constexpr milliseconds kPause(10);
constexpr milliseconds kEventFilesPause(500), kEventFilesLimit(500);
constexpr int64_t kFindSoonest = kNsPerSecond / 2, kFindLatest = 10 * kNsPerSecond;
constexpr int64_t kFindPauses = 500;  // 0.2 % of a core
constexpr int kMaxRoomPauses = 100;   // half a second

}  // namespace

TrainingIntake::TrainingIntake(Ring& ring, SharedMemory memory, Setup setup)
    : ring_(ring),
      memory_(memory),
      setup_(std::move(setup)),
      sink_(ring, memory),
      pipe_(setup_.pipe_fd, sink_, ring, memory),
      event_files_(setup_.tensorboard, sink_, memory, setup_.tell_event),
      budget_(setup_.steps_from.empty() ? 0 : PrintedSteps::kFloorOfOwnPattern),
      pipe_wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

int64_t TrainingIntake::since_zero_ns() const {
  return std::max<int64_t>(0, monotonic_ns() - memory_->zero_ns);
}

void TrainingIntake::start() {
  pipe_thread_ = std::thread([this] { read_pipe(); });
  events_thread_ = std::thread([this] { follow_event_files(); });
}

// Each stream has its own lines.
void TrainingIntake::see_output(size_t stream, std::string_view bytes, int64_t time_ns) {
  if (memory_->output_is_shared != 0) return;  // they may be a stranger's
  while (printed_.size() <= stream) {
    SharedLine* const kept = &memory_->lines[printed_.size()];
    printed_.push_back(std::make_unique<PrintedSteps>(sink_, setup_.steps_from, budget_, kept));
  }
  printed_[stream]->take(bytes, std::max<int64_t>(0, time_ns - memory_->zero_ns));
  count_searched(*printed_[stream]);
}

void TrainingIntake::finish_output() {
  for (const auto& printed : printed_) {
    printed->finish();
    count_searched(*printed);
  }
}

// In the shared memory, where the counts outlive this recorder.
void TrainingIntake::count_searched(PrintedSteps& printed) {
  const PrintedSteps::Counts counts = printed.take_counts();
  memory_->matched_lines += counts.matched;
  memory_->costly_lines += counts.costly;
  if (counts.skipped > 0 && memory_->skipped_lines.fetch_add(counts.skipped) == 0) {
    push_event(ring_, since_zero_ns(), "progress",
               "searching printed lines for steps takes more than 1 % of a CPU: some lines are not "
               "searched from here on");
  }
}

void TrainingIntake::read_pipe() {
  prctl(PR_SET_NAME, "ts-progress");
  milliseconds pause = kRoomPause;
  while (!pipe_over_) {
    std::array<pollfd, 2> ready = {{{setup_.pipe_fd, POLLIN, 0}, {pipe_wake_.get(), POLLIN, 0}}};
    ::poll(ready.data(), ready.size(), -1);
    if (pipe_.read_some()) {
      pause = kRoomPause;
      if (pipe_.is_flooded() || pipe_.are_all_timed()) rest();
    } else {
      wait_for_room(pause);
      pause = std::min(2 * pause, kLongRoomPause);  // a disk that is full stays so for a while
    }
  }
}

// Until the end, at most.
void TrainingIntake::rest() {
  pollfd over = {pipe_wake_.get(), POLLIN, 0};
  ::poll(&over, 1, static_cast<int>(kPause.count()));
}

// What is left stays in the pipe meanwhile; a sender who finds that full does not wait either.
void TrainingIntake::wait_for_room(milliseconds pause) {
  setup_.hurry();
  std::this_thread::sleep_for(pause);
}

void TrainingIntake::follow_event_files() {
  prctl(PR_SET_NAME, "ts-events");
  JobMembers job;
  job.open("", setup_.job);
  int64_t find_ns = 0;
  for (bool over = false; !over;) {
    {
      std::unique_lock lock(mutex_);
      // Without a file there is nothing to do until it is time to look for one.
      const std::chrono::nanoseconds until_find(std::max<int64_t>(0, find_ns - monotonic_ns()));
      const std::chrono::nanoseconds usual = kEventFilesPause;
      const auto pause = event_files_.has_some() ? std::min(usual, until_find) : until_find;
      wake_events_.wait_for(lock, std::max<std::chrono::nanoseconds>(pause, kRoomPause),
                            [this] { return events_over_; });
      over = events_over_;
    }
    // Without the zero of time every file would be of this run, and the next search far away.
    if (!has_time_begun(*memory_)) continue;
    const int64_t now = monotonic_ns();
    if (now >= find_ns || over) {
      job.refresh();
      std::vector<pid_t> pids;
      for (const auto& [pid, stat] : job.all()) pids.push_back(pid);
      const int64_t cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
      event_files_.find(pids, memory_->zero_realtime_ns);
      const int64_t cost_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
      // Often at first, when a short job might be over before it is looked at; a folder with very
      // many entries less often, or the search alone would cost more than all of recording.
      find_ns = now + std::max(std::clamp(since_zero_ns() / 4, kFindSoonest, kFindLatest),
                               kFindPauses * cost_ns);
    }
    event_files_.read({memory_->zero_realtime_ns, since_zero_ns()});
  }
  event_files_.tell_undecided();
  const std::lock_guard lock(mutex_);
  events_done_ = true;
  events_ended_.notify_all();
}

void TrainingIntake::finish() {
  {
    std::unique_lock lock(mutex_);
    events_over_ = true;
    wake_events_.notify_all();
    events_ended_.wait_for(lock, kEventFilesLimit, [this] { return events_done_; });
  }
  pipe_over_ = true;
  eventfd_write(pipe_wake_.get(), 1);
  pipe_thread_.join();
  for (int i = 0; i < kMaxRoomPauses && !pipe_.read_some(); ++i) wait_for_room(kRoomPause);
}

}  // namespace trainscope
