#include "record/unrecorded.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>

#include "base/clock.h"
#include "kernel/process_tree.h"
#include "record/recorder_process.h"
#include "record/sample/job_stops.h"
#include "record/supervise/supervisor.h"

namespace trainscope {

namespace {

constexpr int kWitnessTickMs = 1000;
constexpr size_t kNoRing = 4096;

// Runs in the place of the recorder and only notes signals: one that reaches this process as well
// was sent to the whole group, and the supervisor must not send it to the job again.
[[noreturn]] void witness_signals(SharedMemory memory, pid_t supervisor, int wake_fd,
                                  int lifeline_fd) {
  prepare_recorder_process();
  sigset_t all;
  sigfillset(&all);
  const UniqueFd signals(::signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK));
  std::array<pollfd, 3> polls = {
      {{signals.get(), POLLIN, 0}, {wake_fd, POLLIN, 0}, {lifeline_fd, POLLIN, 0}}};
  while (memory->stop == 0 && polls[2].revents == 0) {
    memory->last_tick_ns = monotonic_ns();
    ::poll(polls.data(), polls.size(), kWitnessTickMs);
    note_signals(memory, signals.get());
    continue_supervisor(*memory, supervisor);
    eventfd_t ignored = 0;
    eventfd_read(wake_fd, &ignored);
  }
  memory->finished = kAllWritten;
  ::_exit(0);
}

struct Plumbing {
  SharedMemory memory;
  UniqueFd wake, ready;
  Pipe lifeline;
};

Result<Plumbing> make_plumbing() {
  Plumbing made;
  TS_TRY(made.memory, SharedMemory::create(kNoRing));
  made.wake.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  made.ready.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!made.wake || !made.ready) return Error::from_errno("cannot make an eventfd", errno);
  TS_TRY(made.lifeline, make_pipe());
  return made;
}

MonitoredRecorder witness(const Plumbing& plumbing) {
  MonitoredRecorder recorder;
  recorder.memory = plumbing.memory;
  recorder.wake_fd = plumbing.wake.get();
  recorder.ready_fd = plumbing.ready.get();
  recorder.lifeline_write_fd = plumbing.lifeline.write.get();
  recorder.period_ns = kWitnessTickMs * kNsPerMs;
  recorder.run = [memory = plumbing.memory, supervisor = ::getpid(), wake_fd = recorder.wake_fd,
                  lifeline_fd = plumbing.lifeline.read.get()](const std::string&) {
    witness_signals(memory, supervisor, wake_fd, lifeline_fd);
  };
  return recorder;
}

JobEnd run_job(Supervisor& supervisor, const RecordOptions& options, Manifest& manifest) {
  if (const int signal = SignalInbox::interrupted_by(); signal != 0) {
    return {std::nullopt, signal, EndedBy::not_started, monotonic_ns()};
  }
  // Scripts may use both without a check.
  const std::map<std::string, std::string> environment = {{"TRAINSCOPE_RUN_ID", ""},
                                                          {"TRAINSCOPE_PIPE", "/dev/null"}};
  const JobEnd end = supervisor.run(options.command, environment, options.for_ns, options.grace_ns);
  if (options.after.empty() || end.ended_by == EndedBy::not_started) return end;
  const JobEnd after =
      supervisor.run({"/bin/sh", "-c", options.after}, environment, 0, options.grace_ns);
  manifest.after_exit_code = after.exit_code;
  return end;
}

}  // namespace

Result<RecordOutcome> run_unrecorded(const RecordOptions& options, const Error& reason) {
  TS_TRY(SignalInbox signals, SignalInbox::open(true));
  TS_TRY(Plumbing plumbing, make_plumbing());
  OutputPlan output;  // without channels: the job has our own output
  StatusLine status(-1, options.for_ns, 0);
  RecorderMonitor monitor(witness(plumbing));
  Supervisor supervisor(plumbing.memory, output, signals, monitor, status, -1);
  const std::vector<pid_t> others = own_children();
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  supervisor.ignore_children(others);
  supervisor.print_message("the job is not recorded: " + reason.message());
  TS_CHECK_OK(monitor.start());
  RecordOutcome outcome;
  outcome.is_closed = false;
  Manifest& manifest = outcome.manifest;
  const JobEnd end = run_job(supervisor, options, manifest);
  manifest.exit_code = end.exit_code;
  manifest.signal = end.signal;
  manifest.ended_by = end.ended_by;
  (void)monitor.finish();
  plumbing.memory.unmap();
  return outcome;
}

}  // namespace trainscope
