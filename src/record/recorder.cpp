#include "record/recorder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <thread>

#include "base/clock.h"
#include "format/format.h"
#include "kernel/pid_namespace.h"
#include "kernel/process_handle.h"
#include "kernel/process_tree.h"
#include "model/job_process.h"
#include "record/host/frameworks.h"
#include "record/intake/output_follower.h"
#include "record/intake/progress.h"
#include "record/intake/progress_sources.h"
#include "record/record.h"
#include "record/recorder_process.h"
#include "record/sample/clock_watch.h"
#include "record/sample/job_stops.h"
#include "record/sample/journal_writer.h"
#include "record/sample/sampler.h"
#include "record/supervise/closing.h"

namespace trainscope {

namespace {

using std::chrono::milliseconds;

// A writer that takes longer at the end hangs.
constexpr auto kLastWriteLimit = milliseconds(500);
constexpr milliseconds kLogLimit(300);
constexpr milliseconds kEventFilesLimit(500);
// How often to check whether the job alone goes on, while the supervisor has stopped with it.
constexpr int kStoppedPauseMs = 100;
// After the job's end, for the inventory of a recorder that was started just before it.
constexpr int64_t kInventoryLimit = 200 * kNsPerMs;

class Recorder {
 public:
  explicit Recorder(RecorderSetup setup)
      : setup_(std::move(setup)),
        memory_(setup_.memory),
        ring_(memory_),
        writer_(ring_, memory_, writer_setup()),
        sampler_(ring_, memory_, context(), self_),
        progress_sources_(ring_, memory_, progress_setup()),
        output_(output_log(), {setup_.supervisor_pid, setup_.others, setup_.output->followed},
                memory_, [this](const auto& kind, const auto& text) { add_event(kind, text); }) {}

  void run() {
    prepare_recorder_process();
    // Only the job may keep its ends open, or its end of output would never be seen.
    setup_.output->job_stdout.reset();
    setup_.output->job_stderr.reset();
    job_.reaped = &memory_->reaped;
    job_.usage = &memory_->usage;
    job_.switches = &memory_->switches;
    job_.threads = &memory_->threads;
    job_.first_end = &memory_->first_end;
    job_.recorder_pid = getpid();
    job_.gpu_pid = &memory_->gpu_pid;
    if (setup_.reaps_orphans) job_.reaper_pid = setup_.supervisor_pid;
    job_.others = setup_.others;
    job_.roster = &roster_;
    job_.first_pid = memory_->job_pid.load();
    self_.supervisor_pid = setup_.supervisor_pid;
    self_.earlier_cpu_ns = memory_->earlier_cpu_ns.load();
    self_.bytes_written = memory_->bytes_written.load();
    self_.missed_ticks = memory_->missed_ticks.load();
    sampler_.publishes_status = setup_.publishes_status;
    sampler_.ready_fd = setup_.ready_fd;
    sampler_.on_refused = [this] { writer_.warn_of_lost_samples(); };
    sampler_.start(setup_.period_ns, setup_.records_machine, setup_.restart_reason);
    writer_.start();
    logger_ = std::thread([this] { log_loop(); });
    progress_sources_.start();
    inventory_ = std::thread([this] { take_inventory(); });
    serve();
    finish();
  }

 private:
  SourceContext context() {
    SourceContext all;
    all.run_folder = setup_.run_path;
    all.working_directory = setup_.working_directory;
    all.job = &job_;
    all.self = &self_;
    all.records_machine = setup_.records_machine;
    static_cast<SourceOptions&>(all) = setup_.source_options;
    all.event_sink = [this](const std::string& kind, const std::string& text) {
      add_event(kind, text);
    };
    return all;
  }

  int64_t since_zero_ns() const { return std::max<int64_t>(0, monotonic_ns() - memory_->zero_ns); }

  void add_event(const std::string& kind, const std::string& text) {
    push_event(ring_, since_zero_ns(), kind, text);
  }

  ProgressSources::Setup progress_setup() {
    return {setup_.progress_fd,
            setup_.tensorboard,
            setup_.steps_from,
            &job_,
            [this] { writer_.write_soon(); },
            [this](const std::string& text) { add_event("tensorboard", text); },
            setup_.output->unseen,
            kEventFilesLimit,
            [this](const std::string& text) { add_event(std::string(kProgressNote), text); }};
  }

  JournalWriter::Setup writer_setup() {
    return {setup_.run_path, setup_.manifest, [this] { note_clock_steps(); },
            [this] { self_.bytes_written = memory_->bytes_written.load(); }};
  }

  // The job, when it was there before us; 0 when we have started it.
  pid_t attached_pid() const { return setup_.reaps_orphans ? 0 : memory_->job_pid.load(); }

  void take_inventory() {
    prctl(PR_SET_NAME, "ts-inventory");
    if (memory_->inventory_taken != 0) return;
    ring_.push_text(RecordKind::info, host_inventory("", setup_.working_directory, setup_.command,
                                                     setup_.run_path, attached_pid()));
    {
      const std::lock_guard lock(mutex_);
      memory_->inventory_taken = 1;
    }
    wake_main_.notify_all();
    note_frameworks();
  }

  // A job takes seconds to load them. Where none is found, it is looked for again later; not after
  // the job's end, when a recorder that still uses CPU time does not seem to hang.
  void note_frameworks() {
    JobMembers members;
    members.open("", &job_);
    for (const int wait_s : {3, 7, 20, 90}) {
      if (is_over_within(std::chrono::seconds(wait_s))) return;
      members.refresh();
      std::vector<pid_t> pids;
      for (const auto& [pid, stat] : members.all()) pids.push_back(pid);
      const std::string found = loaded_frameworks("", pids);
      if (!found.empty()) return add_event(kFrameworkEvent, found);
    }
  }

  // Checked when the kernel reports a change, or every second if it does not.
  void note_clock_steps() {
    const std::lock_guard lock(clock_mutex_);
    for (const ClockEvent& event : clock_.look(setup_.read_clocks()))
      add_event(event.kind, event.text);
  }

  OutputLog output_log() {
    return {setup_.run_path, setup_.log_fd, setup_.output->followed, *memory_,
            [this](size_t stream, std::string_view bytes, int64_t time_ns) {
              progress_sources_.observe_output(stream, bytes, time_ns);
            }};
  }

  void log_loop() {
    prctl(PR_SET_NAME, "ts-output");
    output_.run(log_wake_.get(), [this] {
      const std::lock_guard lock(mutex_);
      return log_over_;
    });
    progress_sources_.finish_output();
    output_.keep_rest();
    const std::lock_guard lock(mutex_);
    logged_ = true;
    wake_main_.notify_all();
  }

  void serve();
  void serve_orphaned(int signal_fd);
  void note_changes();
  void state_job_process();
  void pass_on(int timeout_ms);
  void finish();
  bool is_over_within(std::chrono::seconds limit);
  bool wait_for_log();
  void wait_for_inventory();
  void pass_on_the_rest();

  RecorderSetup setup_;
  SharedMemory memory_;
  JobRoster roster_;
  JobLink job_;
  SelfLink self_;
  Ring ring_;
  JournalWriter writer_;
  Sampler sampler_;
  JobStops stops_{memory_};
  UniqueFd log_wake_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  ProgressSources progress_sources_;
  OutputFollower output_;
  std::thread logger_, inventory_;
  std::mutex mutex_;
  std::condition_variable wake_main_, over_;
  bool is_over_ = false, log_over_ = false, logged_ = false, orphaned_ = false;
  std::mutex clock_mutex_;
  ClockWatch clock_{setup_.read_clocks()};
  UniqueFd clock_changes_{watch_clock_changes()};
};

// For readers on this machine, once for each command of the run.
void Recorder::state_job_process() {
  const pid_t pid = memory_->job_pid;
  if (pid == 0 || pid == memory_->stated_job_pid || memory_->zero_ns == 0) return;
  const JobProcess process = {pid, memory_->job_start_ticks, own_pid_namespace()};
  if (process.start_ticks <= 0 || process.pid_namespace == 0) return;
  memory_->stated_job_pid = pid;
  add_event(std::string(kJobProcessEvent), job_process_text(process));
}

void Recorder::note_changes() {
  eventfd_t ignored = 0;
  eventfd_read(setup_.wake_fd, &ignored);
  job_.first_pid = memory_->job_pid.load();
  state_job_process();
  if (const std::string text = stops_.take_change(); !text.empty()) add_event("job", text);
  for (OutputChannel& channel : setup_.output->channels) {
    if ((memory_->closed_channels & (1U << channel.index())) != 0) channel.close();
  }
}

void Recorder::serve() {
  sigset_t all;
  sigfillset(&all);
  const UniqueFd signal_fd(::signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK));
  state_job_process();  // the recorder before this one may not have
  while (memory_->stop == 0) {
    std::array<pollfd, 4> polls = {{{signal_fd.get(), POLLIN, 0},
                                    {setup_.wake_fd, POLLIN, 0},
                                    {setup_.lifeline_fd, POLLIN, 0},
                                    {clock_changes_.get(), POLLIN, 0}}};
    ::poll(polls.data(), polls.size(), memory_->supervisor_has_stopped != 0 ? kStoppedPauseMs : -1);
    continue_supervisor(*memory_, setup_.supervisor_pid);
    if (polls[0].revents != 0) note_signals(memory_, signal_fd.get());
    if (polls[1].revents != 0) note_changes();
    if (polls[3].revents != 0) {
      take_clock_change(clock_changes_.get());
      note_clock_steps();
    }
    if ((polls[2].revents & (POLLHUP | POLLERR)) != 0) {
      serve_orphaned(signal_fd.get());
      return;
    }
  }
}

// The supervisor has ended: pass the output on until the job has ended.
void Recorder::serve_orphaned(int signal_fd) {
  orphaned_ = true;
  const pid_t pid = memory_->job_pid;
  push_event(ring_, monotonic_ns() - memory_->zero_ns, "supervisor",
             "the supervisor was killed; the recorder continues alone");
  if (pid == 0 || memory_->job_ended_ns != 0) return;  // finish() passes on the rest
  const ProcessHandle job(pid, memory_->job_start_ticks);
  while (!job.has_ended()) {
    note_signals(memory_, signal_fd);
    pass_on(100);
  }
  memory_->job_ended_ns = monotonic_ns();
}

void Recorder::pass_on(int timeout_ms) {
  std::array<pollfd, kMaxChannels> polls{};
  nfds_t count = 0;
  for (const OutputChannel& channel : setup_.output->channels) {
    polls[count++] = channel.poll_request(*memory_);
  }
  ::poll(polls.data(), count, timeout_ms);
  // -1: the copy for output.log came from the supervisor and ends with it.
  for (OutputChannel& channel : setup_.output->channels) channel.pump(*memory_, -1);
}

// To a slow reader, and from daemons of the job that still write.
void Recorder::pass_on_the_rest() {
  prctl(PR_SET_NAME, "trainscope-rly");
  const auto open = [](const OutputChannel& channel) { return !channel.is_closed(); };
  const auto& channels = setup_.output->channels;
  while (std::any_of(channels.begin(), channels.end(), open)) pass_on(-1);
}

bool Recorder::is_over_within(std::chrono::seconds limit) {
  std::unique_lock lock(mutex_);
  return over_.wait_for(lock, limit, [this] { return is_over_; });
}

bool Recorder::wait_for_log() {
  std::unique_lock lock(mutex_);
  return wake_main_.wait_for(lock, kLogLimit, [this] { return logged_; });
}

void Recorder::wait_for_inventory() {
  const int64_t left_ns = memory_->job_ended_ns + kInventoryLimit - monotonic_ns();
  std::unique_lock lock(mutex_);
  wake_main_.wait_for(lock, std::chrono::nanoseconds(left_ns),
                      [this] { return memory_->inventory_taken != 0; });
}

void Recorder::finish() {
  if (memory_->job_ended_ns == 0) memory_->job_ended_ns = monotonic_ns();
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  over_.notify_all();
  sampler_.stop();
  progress_sources_.finish();
  wait_for_inventory();
  // First the progress sources, then the writer, which writes all of it to the disk.
  {
    const std::lock_guard lock(mutex_);
    log_over_ = true;
  }
  eventfd_write(log_wake_.get(), 1);
  if (!wait_for_log()) output_.note_unsearched();
  writer_.close();
  memory_->finished = kWriting;
  const auto release_output = [this] {
    for (OutputChannel& channel : setup_.output->channels) channel.close();
  };
  const bool in_time = writer_.wait_for_end(kLastWriteLimit);
  pollfd lifeline = {setup_.lifeline_fd, POLLIN, 0};
  bool alone = orphaned_ || ::poll(&lifeline, 1, 0) > 0;
  if (!in_time) {
    // The disk hangs. The supervisor does not wait for us, and the reader of the job's output must
    // not either; data in memory is written when the disk responds.
    if (!alone) release_output();
    writer_.wait_for_end();
    alone = alone || ::poll(&lifeline, 1, 0) > 0;
  }
  if (!wait_for_log()) output_.count_unkept();
  const bool sealed = writer_.is_sealed();
  if (alone) {
    Manifest manifest = with_zero(setup_.manifest, *memory_);
    RunToClose run{setup_.run_path, manifest, memory_, setup_.lifeline_fd,
                   !setup_.steps_from.empty()};
    run.keep = setup_.keep;
    close_run_alone(run, sealed);
  }
  memory_->finished = sealed ? kAllWritten : kNotAllWritten;
  if (alone) pass_on_the_rest();
  // A thread that is blocked in a source keeps our descriptors open after our end.
  release_output();
  // Threads that hang in a source or a disk must not keep the process alive: no destructors.
  ::_exit(0);
}

}  // namespace

void run_recorder(RecorderSetup setup) {
  // Never destroyed: its threads may outlive any scope.
  auto* recorder = new Recorder(std::move(setup));
  recorder->run();
  ::_exit(0);
}

}  // namespace trainscope
