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
#include "kernel/process_handle.h"
#include "record/intake/output_follower.h"
#include "record/intake/progress.h"
#include "record/intake/progress_sources.h"
#include "record/record.h"
#include "record/recorder_process.h"
#include "record/sample/clock_watch.h"
#include "record/sample/job_stops.h"
#include "record/sample/journal.h"
#include "record/sample/sampler.h"
#include "record/supervise/closing.h"

namespace trainscope {

namespace {

using std::chrono::milliseconds;

// A writer that takes longer at the end hangs.
constexpr auto kLastWriteLimit = milliseconds(500);
constexpr milliseconds kWritePause(1000);
constexpr milliseconds kLogLimit(500);
// A disk that takes this long for the data of a second counts as hanging.
constexpr int64_t kHangingWrite = 3 * kNsPerSecond;

class Recorder {
 public:
  explicit Recorder(RecorderSetup setup)
      : setup_(std::move(setup)),
        memory_(setup_.memory),
        ring_(memory_),
        journal_(ring_, memory_, setup_.run_path, setup_.manifest),
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
    job_.first_pid = memory_->job_pid.load();
    self_.supervisor_pid = setup_.supervisor_pid;
    self_.earlier_cpu_ns = memory_->earlier_cpu_ns.load();
    self_.bytes_written = memory_->bytes_written.load();
    self_.missed_ticks = memory_->missed_ticks.load();
    sampler_.publishes_status = setup_.publishes_status;
    sampler_.ready_fd = setup_.ready_fd;
    sampler_.on_refused = [this] { warn_of_lost_samples(); };
    sampler_.start(setup_.period_ns, setup_.records_machine, setup_.restart_reason);
    writer_ = std::thread([this] { write_loop(); });
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
            [this] { on_half_full(); },
            [this](const std::string& text) { add_event("tensorboard", text); },
            setup_.output->unseen};
  }

  void on_half_full() {
    const std::lock_guard lock(mutex_);
    is_half_full_ = true;
    wake_writer_.notify_all();
  }

  // The job, when it was there before us; 0 when we have started it.
  pid_t attached_pid() const { return setup_.reaps_orphans ? 0 : memory_->job_pid.load(); }

  void take_inventory() {
    prctl(PR_SET_NAME, "ts-inventory");
    if (memory_->inventory_taken != 0) return;
    ring_.push_text(RecordKind::info, host_inventory("", setup_.working_directory, setup_.command,
                                                     setup_.run_path, attached_pid()));
    memory_->inventory_taken = 1;
  }

  void write_loop() {
    prctl(PR_SET_NAME, "ts-write");
    bool closing = false, all_sealed = false;
    milliseconds pause = kWritePause;
    uint64_t taken = ring_.head();
    if (memory_->incarnation == 1) write_zero();
    while (!closing) {
      {
        std::unique_lock lock(mutex_);
        wake_writer_.wait_for(lock, pause, [this] { return closing_ || is_half_full_; });
        closing = closing_;
        is_half_full_ = false;
      }
      // A thousand rows per second of a machine with hundreds of processors fill the ring sooner.
      const bool fast = ring_.head() - taken > ring_.capacity() / 4;
      pause = fast ? std::max(pause / 2, milliseconds(20)) : std::min(pause * 2, kWritePause);
      taken = ring_.head();
      note_clock_steps();
      // The first flush writes records that an earlier recorder left.
      const int64_t began_ns = monotonic_ns();
      const Status flushed = closing ? journal_.close() : journal_.flush();
      note_hang(monotonic_ns() - began_ns);
      report(flushed);
      all_sealed = static_cast<bool>(flushed);
      self_.bytes_written = memory_->bytes_written.load();
    }
    const std::lock_guard lock(mutex_);
    written_ = true;
    sealed_ = all_sealed;
    wake_main_.notify_all();
  }

  // Checked when the kernel reports a change, or every second if it does not.
  void note_clock_steps() {
    const std::lock_guard lock(clock_mutex_);
    for (const ClockEvent& event : clock_.look(ClockReading::now()))
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

  // Informs the user once when writing fails and once when it works again.
  void report(const Status& status) {
    const bool failed = !status;
    memory_->storage_error = failed ? status.error().error_number() : 0;
    if (failed == storage_failed_) return;
    storage_failed_ = failed;
    post_message(failed ? "recording paused, the job is still running: " + status.error().message()
                        : std::string("recording resumed: the run folder is writable again"));
    if (!failed) write_manifest_again();
    push_event(ring_, monotonic_ns() - memory_->zero_ns, "storage",
               failed ? status.error().message() : "the run folder is writable again");
  }

  // A folder that was removed and made again lacks it.
  void write_manifest_again() {
    if (exists(setup_.run_path + "/manifest.json")) return;
    (void)write_manifest(setup_.run_path, with_zero(setup_.manifest, *memory_));
  }

  // The manifest that the supervisor wrote lacks t = 0. It is written here, because a disk that is
  // slow or hangs must not delay the job.
  void write_zero() {
    std::unique_lock lock(mutex_);
    while (!has_time_begun(*memory_)) {
      if (wake_writer_.wait_for(lock, milliseconds(1), [this] { return closing_; })) return;
    }
    lock.unlock();
    (void)write_manifest(setup_.run_path, with_zero(setup_.manifest, *memory_));
  }

  void note_hang(int64_t took_ns) {
    if (took_ns < kHangingWrite) return;
    add_event("storage",
              fmt::format("the run folder did not respond for {:.1f} s", to_seconds(took_ns)));
  }

  void warn_of_lost_samples() {
    post_message(fmt::format(
        "samples are being lost, the job is still running: the run folder {}, and the memory for "
        "samples is full",
        storage_failed_ ? "cannot be written" : "does not respond"));
  }

  void post_message(const std::string& text) {
    const std::lock_guard lock(message_mutex_);
    leave_message(*memory_, text);
  }

  void serve();
  void serve_orphaned(int signal_fd);
  void note_signals(int signal_fd);
  void note_changes();
  void pass_on(int timeout_ms);
  void finish();
  void pass_on_the_rest();

  RecorderSetup setup_;
  SharedMemory memory_;
  JobLink job_;
  SelfLink self_;
  Ring ring_;
  Journal journal_;
  Sampler sampler_;
  JobStops stops_{memory_};
  UniqueFd log_wake_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  ProgressSources progress_sources_;
  OutputFollower output_;
  std::thread writer_, logger_, inventory_;
  std::mutex mutex_;
  std::condition_variable wake_writer_, wake_main_;
  bool is_half_full_ = false;  // the ring is half full
  bool log_over_ = false, closing_ = false, written_ = false, logged_ = false, orphaned_ = false;
  std::atomic<bool> storage_failed_ = false;
  std::mutex message_mutex_;
  bool sealed_ = false;  // the last block is on disk
  std::mutex clock_mutex_;
  ClockWatch clock_{ClockReading::now()};
  UniqueFd clock_changes_{watch_clock_changes()};
};

void Recorder::note_signals(int signal_fd) {
  signalfd_siginfo info{};
  while (::read(signal_fd, &info, sizeof info) == sizeof info) {
    if (info.ssi_signo < kMaxSignals) memory_->signal_seen_ns[info.ssi_signo] = monotonic_ns();
  }
}

void Recorder::note_changes() {
  eventfd_t ignored = 0;
  eventfd_read(setup_.wake_fd, &ignored);
  job_.first_pid = memory_->job_pid.load();
  if (const std::string text = stops_.take_change(); !text.empty()) add_event("job", text);
  for (OutputChannel& channel : setup_.output->channels) {
    if ((memory_->closed_channels & (1U << channel.index())) != 0) channel.close();
  }
}

void Recorder::serve() {
  sigset_t all;
  sigfillset(&all);
  const UniqueFd signal_fd(::signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK));
  while (memory_->stop == 0) {
    std::array<pollfd, 4> polls = {{{signal_fd.get(), POLLIN, 0},
                                    {setup_.wake_fd, POLLIN, 0},
                                    {setup_.lifeline_fd, POLLIN, 0},
                                    {clock_changes_.get(), POLLIN, 0}}};
    ::poll(polls.data(), polls.size(), -1);
    if (polls[0].revents != 0) note_signals(signal_fd.get());
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
    note_signals(signal_fd);
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

void Recorder::finish() {
  if (memory_->job_ended_ns == 0) memory_->job_ended_ns = monotonic_ns();
  sampler_.stop();
  progress_sources_.finish();
  std::unique_lock lock(mutex_);
  // First the progress sources, then the writer, which writes all of it to the disk.
  log_over_ = true;
  eventfd_write(log_wake_.get(), 1);
  const auto is_logged = [this] { return logged_; };
  if (!wake_main_.wait_for(lock, kLogLimit, is_logged)) output_.note_unsearched();
  closing_ = true;
  wake_writer_.notify_all();
  memory_->finished = kWriting;
  const auto release_output = [this] {
    for (OutputChannel& channel : setup_.output->channels) channel.close();
  };
  const bool in_time = wake_main_.wait_for(lock, kLastWriteLimit, [this] { return written_; });
  pollfd lifeline = {setup_.lifeline_fd, POLLIN, 0};
  bool alone = orphaned_ || ::poll(&lifeline, 1, 0) > 0;
  if (!in_time) {
    // The disk hangs. The supervisor does not wait for us, and the reader of the job's output must
    // not either; data in memory is written when the disk responds.
    if (!alone) release_output();
    wake_main_.wait(lock, [this] { return written_; });
    alone = alone || ::poll(&lifeline, 1, 0) > 0;
  }
  if (!wake_main_.wait_for(lock, kLogLimit, is_logged)) output_.count_unkept();
  const bool sealed = sealed_;
  lock.unlock();
  if (alone) {
    Manifest manifest = with_zero(setup_.manifest, *memory_);
    RunToClose run{setup_.run_path, manifest, memory_, setup_.lifeline_fd,
                   !setup_.steps_from.empty()};
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
