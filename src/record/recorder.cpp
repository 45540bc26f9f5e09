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
#include "collect/support/process_handle.h"
#include "record/journal.h"
#include "record/output_log.h"
#include "record/progress.h"
#include "record/record.h"
#include "record/recorder_process.h"
#include "record/sampler.h"
#include "record/training_intake.h"
#include "store/store.h"

namespace trainscope {

namespace {

using std::chrono::milliseconds;

// A writer that takes longer at the end hangs.
constexpr auto kCloseLimit = milliseconds(500);
constexpr milliseconds kWritePause(1000);
constexpr int kFollowPauseMs = 50;
constexpr milliseconds kLogLimit(500);
// Smaller changes between two looks, a second apart, are the clock being slewed.
constexpr int64_t kClockStep = 100'000'000;

class Recorder {
 public:
  explicit Recorder(RecorderSetup setup)
      : setup_(std::move(setup)),
        memory_(setup_.memory),
        ring_(memory_),
        journal_(ring_, memory_, setup_.run_path, setup_.manifest.id),
        sampler_(ring_, memory_, surroundings(), self_),
        intake_(ring_, memory_, intake_setup()),
        log_(setup_.run_path, setup_.log_fd, setup_.output->followed,
             [this](size_t stream, std::string_view bytes) { intake_.see_output(stream, bytes); }) {
  }

  void run() {
    prepare_recorder_process();
    // The job's ends are the job's: with them open nobody would ever see the end of its output.
    setup_.output->job_stdout.reset();
    setup_.output->job_stderr.reset();
    job_.reaped = &memory_->reaped;
    job_.usage = &memory_->usage;
    job_.switches = &memory_->switches;
    job_.recorder_pid = getpid();
    job_.gpu_pid = &memory_->gpu_pid;
    if (setup_.reaps_orphans) job_.reaper_pid = setup_.supervisor_pid;
    job_.others = setup_.others;
    job_.first_pid = memory_->job_pid.load();
    if (attached_pid() != 0) take_environment_of(attached_pid());
    self_.supervisor_pid = setup_.supervisor_pid;
    self_.earlier_cpu_ns = memory_->earlier_cpu_ns.load();
    self_.bytes_written = memory_->bytes_written.load();
    self_.missed_ticks = memory_->missed_ticks.load();
    sampler_.publishes_status = setup_.publishes_status;
    sampler_.ready_fd = setup_.ready_fd;
    sampler_.start(setup_.period_ns, setup_.records_machine, setup_.restart_reason);
    writer_ = std::thread([this] { write_loop(); });
    logger_ = std::thread([this] { log_loop(); });
    intake_.start();
    inventory_ = std::thread([this] { take_inventory(); });
    serve();
    finish();
  }

 private:
  Surroundings surroundings() {
    Surroundings all;
    all.run_folder = setup_.run_path;
    all.working_directory = setup_.working_directory;
    all.job = &job_;
    all.self = &self_;
    all.counters = setup_.counters;
    all.data = setup_.data;
    all.perf = setup_.perf;
    all.tell = [this](const std::string& kind, const std::string& text) { tell(kind, text); };
    return all;
  }

  int64_t since_zero_ns() const { return std::max<int64_t>(0, monotonic_ns() - memory_->zero_ns); }

  void tell(const std::string& kind, const std::string& text) {
    push_event(ring_, since_zero_ns(), kind, text);
  }

  TrainingIntake::Setup intake_setup() {
    return {setup_.progress_fd,  setup_.tensorboard,
            setup_.steps_from,   &job_,
            [this] { hurry(); }, [this](const std::string& text) { tell("tensorboard", text); }};
  }

  void hurry() {
    const std::lock_guard lock(mutex_);
    hurry_ = true;
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
        wake_writer_.wait_for(lock, pause, [this] { return closing_ || hurry_; });
        closing = closing_;
        hurry_ = false;
      }
      // A thousand rows a second of a machine with hundreds of processors fill the ring sooner.
      const bool fast = ring_.head() - taken > ring_.capacity() / 4;
      pause = fast ? std::max(pause / 2, milliseconds(20)) : std::min(pause * 2, kWritePause);
      taken = ring_.head();
      note_clock_steps();
      // The first flush drains what an earlier recorder left.
      const Status flushed = journal_.flush(closing);
      report(flushed);
      all_sealed = static_cast<bool>(flushed);
      self_.bytes_written = memory_->bytes_written.load();
    }
    // What the last block could not take is in the tail and nowhere else.
    if (all_sealed) journal_.close();
    const std::lock_guard lock(mutex_);
    written_ = true;
    sealed_ = all_sealed;
    wake_main_.notify_all();
  }

  // The wall clock was set, or the machine slept: CLOCK_MONOTONIC knows of neither.
  void note_clock_steps() {
    const int64_t monotonic = monotonic_ns();
    const int64_t wall = realtime_ns() - monotonic, boot = boottime_ns() - monotonic;
    const int64_t slept = boot - boot_offset_ns_, stepped = wall - wall_offset_ns_ - slept;
    if (wall_offset_ns_ != 0 && slept > kClockStep) {
      push_event(ring_, monotonic - memory_->zero_ns, "suspend",
                 fmt::format("the machine slept for {:.1f} s", to_seconds(slept)));
    }
    if (wall_offset_ns_ != 0 && std::abs(stepped) > kClockStep) {
      push_event(ring_, monotonic - memory_->zero_ns, "clock",
                 fmt::format("the wall clock was set by {:+.3f} s", to_seconds(stepped)));
    }
    wall_offset_ns_ = wall;
    boot_offset_ns_ = boot;
  }

  void log_loop() {
    prctl(PR_SET_NAME, "ts-output");
    // A file that is followed is looked at so often that printed steps have a time; to be told of
    // new bytes (inotify) would cost the job a little at each of its writes.
    const int timeout_ms = log_.follows_files() ? kFollowPauseMs : -1;
    for (;;) {
      std::array<pollfd, 2> ready = {{{log_.pipe_fd(), POLLIN, 0}, {log_wake_.get(), POLLIN, 0}}};
      ::poll(ready.data(), ready.size(), timeout_ms);
      memory_->output_dropped += log_.collect();
      const std::lock_guard lock(mutex_);
      if (log_over_) break;
    }
    memory_->output_dropped += log_.collect();
    intake_.finish_output();
    const std::lock_guard lock(mutex_);
    logged_ = true;
    wake_main_.notify_all();
  }

  // Tells the user once when writing fails and once when it works again.
  void report(const Status& status) {
    const bool failed = !status;
    if (failed == storage_failed_) return;
    storage_failed_ = failed;
    say(failed ? "recording is paused, the job goes on: " + status.error().message()
               : std::string("recording goes on: the run folder can be written again"));
    if (!failed) write_manifest_again();
    push_event(ring_, monotonic_ns() - memory_->zero_ns, "storage",
               failed ? status.error().message() : "the run folder can be written again");
  }

  // A folder that was removed and made again lacks it.
  void write_manifest_again() {
    if (exists(setup_.run_path + "/manifest.json")) return;
    (void)write_manifest(setup_.run_path, manifest_with_zero());
  }

  Manifest manifest_with_zero() const {
    Manifest manifest = setup_.manifest;
    manifest.zero_monotonic_ns = memory_->zero_ns;
    manifest.zero_boottime_ns = memory_->zero_boottime_ns;
    manifest.zero_realtime_ns = memory_->zero_realtime_ns;
    manifest.started = utc_text(manifest.zero_realtime_ns);
    return manifest;
  }

  // Time has begun: the manifest that the supervisor wrote before does not have that. Here and not
  // there, because a disk that is slow or hangs must not hold the job up.
  void write_zero() {
    std::unique_lock lock(mutex_);
    while (memory_->zero_realtime_ns == 0 || memory_->zero_ns == 0) {
      if (wake_writer_.wait_for(lock, milliseconds(1), [this] { return closing_; })) return;
    }
    lock.unlock();
    (void)write_manifest(setup_.run_path, manifest_with_zero());
  }

  void say(const std::string& text) {
    ++memory_->message_count;  // odd: being written
    const size_t n = std::min(text.size(), sizeof(memory_->message) - 1);
    text.copy(memory_->message, n);
    memory_->message[n] = '\0';
    ++memory_->message_count;
  }

  void serve();
  void serve_orphaned(int signal_fd);
  void note_signals(int signal_fd);
  void note_changes();
  void pass_on(int timeout_ms);
  void finish();
  void pass_on_the_rest();
  void close_run_alone();

  RecorderSetup setup_;
  SharedMemory memory_;
  JobLink job_;
  SelfLink self_;
  Ring ring_;
  Journal journal_;
  Sampler sampler_;
  UniqueFd log_wake_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  TrainingIntake intake_;
  OutputLog log_;
  std::thread writer_, logger_, inventory_;
  std::mutex mutex_;
  std::condition_variable wake_writer_, wake_main_;
  bool hurry_ = false;  // the ring is half full
  bool log_over_ = false;
  bool closing_ = false, written_ = false, logged_ = false, storage_failed_ = false;
  bool sealed_ = false;  // the last block is on disk
  bool orphaned_ = false;
  int64_t wall_offset_ns_ = 0, boot_offset_ns_ = 0;
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
  for (OutputChannel& channel : setup_.output->channels) {
    if ((memory_->closed_channels & (1U << channel.index())) != 0) channel.close();
  }
}

void Recorder::serve() {
  sigset_t all;
  sigfillset(&all);
  const UniqueFd signal_fd(::signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK));
  while (memory_->stop == 0) {
    std::array<pollfd, 3> polls = {{{signal_fd.get(), POLLIN, 0},
                                    {setup_.wake_fd, POLLIN, 0},
                                    {setup_.lifeline_fd, POLLIN, 0}}};
    ::poll(polls.data(), polls.size(), -1);
    if (polls[0].revents != 0) note_signals(signal_fd.get());
    if (polls[1].revents != 0) note_changes();
    if ((polls[2].revents & (POLLHUP | POLLERR)) != 0) {
      serve_orphaned(signal_fd.get());
      return;
    }
  }
}

// The supervisor is gone: pass the output on until the job has ended.
void Recorder::serve_orphaned(int signal_fd) {
  orphaned_ = true;
  const pid_t pid = memory_->job_pid;
  push_event(ring_, monotonic_ns() - memory_->zero_ns, "supervisor",
             "the supervisor was killed; the recorder goes on alone");
  if (pid == 0 || memory_->job_ended_ns != 0) return;  // finish() passes on what is left
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
    polls[count++] = channel.wanted(*memory_);
  }
  ::poll(polls.data(), count, timeout_ms);
  // -1: the copy for output.log came from the supervisor and ends with it.
  for (OutputChannel& channel : setup_.output->channels) channel.pump(*memory_, -1);
}

// To a slow reader, and from daemons of the job that still write.
void Recorder::pass_on_the_rest() {
  prctl(PR_SET_NAME, "trainscope-rly");
  const auto open = [](const OutputChannel& channel) { return !channel.over(); };
  const auto& channels = setup_.output->channels;
  while (std::any_of(channels.begin(), channels.end(), open)) pass_on(-1);
}

void Recorder::close_run_alone() {
  Manifest manifest = manifest_with_zero();
  manifest.duration_s = to_seconds(memory_->job_ended_ns - memory_->zero_ns);
  manifest.ended = utc_text(realtime_ns());
  manifest.ended_by = EndedBy::unknown;
  manifest.bytes_written = memory_->bytes_written;
  manifest.notes.emplace_back("the supervisor was killed; how the job ended is not known");
  for (std::string& note : progress_notes(*memory_)) manifest.notes.push_back(std::move(note));
  (void)write_manifest(setup_.run_path, manifest);
  ::unlink((setup_.run_path + "/progress").c_str());
}

void Recorder::finish() {
  if (memory_->job_ended_ns == 0) memory_->job_ended_ns = monotonic_ns();
  sampler_.stop();
  intake_.finish();
  std::unique_lock lock(mutex_);
  // First what is told, then the writer, which takes all of it to the disk.
  log_over_ = true;
  eventfd_write(log_wake_.get(), 1);
  wake_main_.wait_for(lock, kLogLimit, [this] { return logged_; });
  closing_ = true;
  wake_writer_.notify_all();
  memory_->finished = kWriting;
  const auto release_output = [this] {
    for (OutputChannel& channel : setup_.output->channels) channel.close();
  };
  const bool in_time = wake_main_.wait_for(lock, kCloseLimit, [this] { return written_; });
  pollfd lifeline = {setup_.lifeline_fd, POLLIN, 0};
  bool alone = orphaned_ || ::poll(&lifeline, 1, 0) > 0;
  if (!in_time) {
    // A disk hangs. The supervisor does not wait for us, and whoever reads the job's output must
    // not either; what is in memory is written when the disk answers.
    if (!alone) release_output();
    wake_main_.wait(lock, [this] { return written_; });
    alone = alone || ::poll(&lifeline, 1, 0) > 0;
  }
  wake_main_.wait_for(lock, kLogLimit, [this] { return logged_; });
  const bool sealed = sealed_;
  lock.unlock();
  if (alone) close_run_alone();
  memory_->finished = sealed ? kAllWritten : kNotAllWritten;
  if (alone) pass_on_the_rest();
  // A thread that a source holds keeps our descriptors open beyond our end.
  release_output();
  // Threads that hang in a source or a disk must not keep the process: no destructors.
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
