#include "record/intake/progress_sources.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/clock.h"
#include "record/sample/ring.h"
#include "training/training.h"

namespace trainscope {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kRoomPause(5), kLongRoomPause(250);
// At most a megabyte in this time: 1,000,000 lines per second, and half a core. Lines that arrive
// in between do not wake us, which would cost the job several microseconds per line.
constexpr milliseconds kPause(10);
constexpr int64_t kEventFilesPause = kNsPerSecond / 2;
constexpr int64_t kOpenFilesLatest = 10 * kNsPerSecond;
constexpr int kMaxRoomPauses = 100;  // half a second
constexpr int kOutputRoomPauses = 20;
// So long after the job's end; then output.log has to be completed.
constexpr int64_t kOutputRoomAtEnd = 150 * kNsPerMs;

std::vector<pid_t> members(JobMembers& job) {
  job.refresh();
  std::vector<pid_t> pids;
  for (const auto& [pid, stat] : job.all()) pids.push_back(pid);
  return pids;
}

}  // namespace

ProgressSources::ProgressSources(Ring& ring, SharedMemory memory, Setup setup)
    : ring_(ring),
      memory_(memory),
      setup_(std::move(setup)),
      sink_(ring, memory),
      pipe_(setup_.pipe_fd, sink_, ring, memory),
      event_files_(setup_.tensorboard, sink_, memory, setup_.event_sink),
      budget_(setup_.steps_from.empty() ? 0 : PrintedSteps::kFloorOfOwnPattern),
      pipe_wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

ProgressSources::~ProgressSources() {
  if (events_thread_.joinable()) events_thread_.join();
}

int64_t ProgressSources::since_zero_ns() const {
  return std::max<int64_t>(0, monotonic_ns() - memory_->zero_ns);
}

void ProgressSources::start() {
  pipe_thread_ = std::thread([this] { read_pipe(); });
  events_thread_ = std::thread([this] { follow_event_files(); });
}

// Each stream has its own lines.
void ProgressSources::observe_output(size_t stream, std::string_view bytes, int64_t time_ns) {
  if (memory_->output_is_shared != 0) return;  // they may come from another process
  while (printed_.size() <= stream) {
    SharedLine* const kept = &memory_->lines[printed_.size()];
    printed_.push_back(
        std::make_unique<PrintedSteps>(sink_, setup_.steps_from, budget_, kept, &guess_));
  }
  wait_for_room_of_output();
  printed_[stream]->take(bytes, std::max<int64_t>(0, time_ns - memory_->zero_ns));
  count_searched(*printed_[stream]);
}

// Lines that come faster than they are written wait in their file or pipe, which hold them.
void ProgressSources::wait_for_room_of_output() {
  for (int i = 0; i < kOutputRoomPauses && !sink_.has_room(); ++i) {
    const int64_t ended_ns = memory_->job_ended_ns;
    const bool is_late = ended_ns != 0 && monotonic_ns() > ended_ns + kOutputRoomAtEnd;
    if (is_late || memory_->storage_error != 0) return;
    wait_for_room(kRoomPause);
  }
}

void ProgressSources::finish_output() {
  for (const auto& printed : printed_) {
    printed->finish(memory_->output_gaps != 0);
    count_searched(*printed);
  }
  if (memory_->step < 0 && memory_->output_is_shared == 0) explain_missing_steps();
}

// Events that reading a run without steps turns into advice.
void ProgressSources::explain_missing_steps() {
  if (const std::string pattern = guess_.pattern(); !pattern.empty()) {
    push_event(ring_, since_zero_ns(), std::string(kStepsPattern), pattern);
  }
  if (!setup_.unseen_output.empty()) {
    push_event(ring_, since_zero_ns(), std::string(kOutputIsUnseen), setup_.unseen_output);
  }
}

// In the shared memory, so that the counts survive this recorder.
void ProgressSources::count_searched(PrintedSteps& printed) {
  const PrintedSteps::Counts counts = printed.take_counts();
  memory_->matched_lines += counts.matched;
  memory_->costly_lines += counts.costly;
  memory_->cut_lines += counts.cut;
  if (counts.skipped > 0 && memory_->skipped_lines.fetch_add(counts.skipped) == 0) {
    push_event(ring_, since_zero_ns(), "progress",
               "searching printed lines for steps takes more than 1 % of a CPU: some lines are not "
               "searched from now on");
  }
}

void ProgressSources::read_pipe() {
  prctl(PR_SET_NAME, "ts-progress");
  milliseconds pause = kRoomPause;
  while (!pipe_over_) {
    std::array<pollfd, 2> ready = {{{setup_.pipe_fd, POLLIN, 0}, {pipe_wake_.get(), POLLIN, 0}}};
    ::poll(ready.data(), ready.size(), -1);
    if (pipe_.read_some()) {
      pause = kRoomPause;
      if (pipe_.has_backlog() || pipe_.are_all_timed()) back_off();
    } else {
      wait_for_room(pause);
      pause = std::min(2 * pause, kLongRoomPause);  // a disk that is full stays so for a while
    }
  }
}

// Until the end, at most.
void ProgressSources::back_off() {
  pollfd over = {pipe_wake_.get(), POLLIN, 0};
  ::poll(&over, 1, static_cast<int>(kPause.count()));
}

// The rest stays in the pipe; a sender that finds it full does not wait either.
void ProgressSources::wait_for_room(milliseconds pause) {
  setup_.on_half_full();
  std::this_thread::sleep_for(pause);
}

bool ProgressSources::wait_for_end_of_events(int64_t until_ns) {
  const std::chrono::nanoseconds pause(until_ns - monotonic_ns());
  std::unique_lock lock(mutex_);
  return wake_events_.wait_for(lock, pause, [this] { return events_over_; });
}

// Reads the files that the job has open, which are few, and new events of known files.
void ProgressSources::look_at_event_files(JobMembers& job, SearchSchedule& open_files) {
  const int64_t now = monotonic_ns();
  if (now >= open_files.next_ns()) {
    const int64_t cpu_ns = thread_cpu_ns();
    event_files_.find_open(members(job), memory_->zero_realtime_ns);
    open_files.searched(now, since_zero_ns(), thread_cpu_ns() - cpu_ns);
  }
  event_files_.read({memory_->zero_realtime_ns, since_zero_ns()});
  has_event_files_ = event_files_.has_some();
  // Without a file there is nothing to do until the next search.
  look_ns_ = has_event_files_ ? now + kEventFilesPause : open_files.next_ns();
}

void ProgressSources::follow_event_files() {
  prctl(PR_SET_NAME, "ts-events");
  JobMembers job;
  job.open("", setup_.job);
  SearchSchedule open_files(kOpenFilesLatest), folders(std::numeric_limits<int64_t>::max());
  // A folder with very many entries takes its time, and the job's steps do not wait for it.
  int64_t meanwhile_cpu_ns = 0;
  const auto look_meanwhile = [&] {
    const int64_t cpu_ns = thread_cpu_ns();
    if (monotonic_ns() >= look_ns_) look_at_event_files(job, open_files);
    meanwhile_cpu_ns += thread_cpu_ns() - cpu_ns;
    return !wait_for_end_of_events(0);
  };
  for (;;) {
    const int64_t soonest = monotonic_ns() + std::chrono::nanoseconds(kRoomPause).count();
    const int64_t due = std::min(look_ns_, folders.next_ns());
    if (wait_for_end_of_events(std::max(soonest, due))) break;
    // Without the zero of time every file would be of this run, and the next search far away.
    if (!has_time_begun(*memory_)) continue;
    const int64_t now = monotonic_ns();
    // First the open files: any file that does not exist at the first search of the folders is new.
    if (now >= look_ns_) look_at_event_files(job, open_files);
    if (now < folders.next_ns()) continue;
    meanwhile_cpu_ns = 0;
    const int64_t cpu_ns = thread_cpu_ns();
    event_files_.find_in_folders(memory_->zero_realtime_ns, look_meanwhile);
    const int64_t cost_ns = thread_cpu_ns() - cpu_ns - meanwhile_cpu_ns;
    folders.searched(now, since_zero_ns(), cost_ns);
    look_at_event_files(job, open_files);
  }
  if (has_time_begun(*memory_)) {
    event_files_.finish(members(job), {memory_->zero_realtime_ns, since_zero_ns()});
    const int64_t left_out = event_files_.values_left_out();
    if (left_out > 0 && setup_.note_sink) {
      setup_.note_sink(
          fmt::format("{} values of event files are left out: their step numbers are above {}",
                      left_out, kMaxReportNumber));
    }
  }
  const std::lock_guard lock(mutex_);
  events_done_ = true;
  events_ended_.notify_all();
}

void ProgressSources::finish() {
  bool are_events_read = false;
  {
    std::unique_lock lock(mutex_);
    events_over_ = true;
    wake_events_.notify_all();
    are_events_read =
        events_ended_.wait_for(lock, setup_.event_files_limit, [this] { return events_done_; });
  }
  if (!are_events_read && (has_event_files_ || !setup_.tensorboard.empty())) {
    setup_.event_sink(
        "event files could not be searched and read to the end in time: steps may be missing");
  }
  pipe_over_ = true;
  eventfd_write(pipe_wake_.get(), 1);
  pipe_thread_.join();
  for (int i = 0; i < kMaxRoomPauses && !pipe_.read_some(); ++i) wait_for_room(kRoomPause);
}

}  // namespace trainscope
