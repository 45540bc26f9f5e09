#include "record/record.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <memory>

#include "base/clock.h"
#include "base/text.h"
#include "kernel/host_name.h"
#include "kernel/process_handle.h"
#include "kernel/process_tree.h"
#include "record/host/inventory.h"
#include "record/host/launcher_job.h"
#include "record/recorder.h"
#include "record/supervise/closing.h"
#include "record/supervise/instrument.h"
#include "record/supervise/run_folder.h"
#include "record/supervise/supervisor.h"
#include "record/unrecorded.h"
#include "store/store.h"
#include "version.h"

namespace trainscope {

namespace {

// Everything that one run needs, in the order in which it must go away.
struct Session {
  NewRun run;
  Status progress_pipe;  // was its FIFO created?
  Manifest manifest;
  SharedMemory memory;
  OutputPlan output;
  UniqueFd wake, ready;
  Pipe lifeline, log;
  UniqueFd progress;
  std::vector<pid_t> others;  // children that we had before the run
  bool wants_printed_steps = false, has_instrument_files = false;
  std::vector<std::string> warnings;  // of conveniences that this run has to do without
};

// Space for a block of rows and as much again; rows grow with the processors.
size_t ring_bytes() {
  const auto cpus = static_cast<size_t>(std::max(1L, sysconf(_SC_NPROCESSORS_CONF)));
  const size_t row = (100 + cpus * 9) * sizeof(int64_t);
  return std::clamp<size_t>(row * 2400, size_t{2} << 20, size_t{8} << 20) / 4096 * 4096;
}

// The process that started the job, or us, who start it.
LauncherProcess launcher_process(pid_t attach_pid, const std::string& boot_id) {
  LauncherProcess parent{boot_id, ::getppid(), 0};
  if (ProcessStat stat; attach_pid != 0) {
    parent.pid = read_stat("", attach_pid, stat) ? stat.parent : 0;
  }
  parent.start_ticks = start_ticks(parent.pid);
  return parent;
}

void set_rank(Manifest& m, pid_t attach_pid) {
  // A job that we start inherits our variables.
  const Variables variables = attach_pid == 0 ? Variables::ours() : Variables::of(attach_pid);
  const Rank rank = rank_from_environment(variables);
  m.rank = rank.rank;
  m.world_size = rank.world_size;
  m.local_rank = rank.local_rank;
  const LauncherJob job = launcher_job(variables, rank, launcher_process(attach_pid, m.boot_id));
  m.job = job.id;
  m.restart = job.restart;
  // Of us, not of the job: nobody else may have attached to its other ranks.
  m.records_machine = rank_from_environment(Variables::ours()).local_rank == 0;
}

Manifest first_manifest(const RecordOptions& options) {
  Manifest m;
  m.name = options.name;
  m.note = redact_text(options.note);
  m.tags = redact_tags(options.tags);
  m.started = utc_text(realtime_ns());
  m.command = redact_command(options.command);
  m.after_command = redact_line(options.after);
  m.working_directory =
      options.attach_pid == 0 ? current_folder() : working_directory_of(options.attach_pid);
  m.attached = options.attach_pid != 0;
  m.host_name = host_name();
  if (auto boot = read_line("/proc/sys/kernel/random/boot_id")) m.boot_id = *boot;
  m.trainscope_version = kVersion;
  set_rank(m, options.attach_pid);
  m.repeat = options.repeat_of;
  m.period_ns = options.every_ns;
  m.supervisor_pid = ::getpid();
  m.supervisor_start_ticks = start_ticks(::getpid());
  m.settings = options.settings;
  if (options.probe) m.notes.push_back(probe_note());
  if (m.attached) {
    m.notes.emplace_back(
        "attached to a running job: a process that left its parent between two ticks may not be "
        "counted");
  }
  return m;
}

Status make_plumbing(Session& session) {
  session.wake.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  session.ready.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!session.wake || !session.ready) return Error::from_errno("cannot make an eventfd", errno);
  TS_TRY(session.lifeline, make_pipe());
  TS_TRY(session.log, make_pipe(O_NONBLOCK));
  fcntl(session.log.write.get(), F_SETPIPE_SZ, 1 << 20);
  return {};
}

// A child has just created the FIFO, so the kernel knows its name: no server is asked.
Status open_progress_pipe(Session& session) {
  TS_CHECK_OK(session.progress_pipe);
  // For reading and writing: it stays open as long as this process, whatever other processes do.
  TS_TRY(session.progress, open_file(progress_path(session.run), O_RDWR | O_NONBLOCK));
  fcntl(session.progress.get(), F_SETPIPE_SZ, 1 << 20);
  return {};
}

void add_instrument(Session& session, const RecordOptions& options) {
  const Status written = add_instrument_files(
      session.run, options.probe ? probe_lease(session.manifest, options.for_ns) : "");
  session.has_instrument_files = static_cast<bool>(written);
  if (!written) {
    session.warnings.push_back("the job is not instrumented: " + written.error().message());
  }
}

// Improves the run, but must not prevent the job from starting.
void add_conveniences(Session& session, const RecordOptions& options) {
  if (const Status opened = open_progress_pipe(session); !opened) {
    session.warnings.push_back("progress cannot be reported: " + opened.error().message());
  }
  if (options.instrument && session.progress) add_instrument(session, options);
  if (options.attach_pid == 0) {
    if (auto plan = plan_output()) {
      session.output = std::move(*plan);
    } else {
      session.warnings.push_back("the job's output is not recorded: " + plan.error().message());
      session.output.unseen = "the output is not recorded; try trainscope send or --tensorboard";
    }
  } else {
    session.output.unseen = "attach does not see printed lines; try --tensorboard DIR";
  }
  if (options.id_file.empty()) return;
  const Status written = write_id_file(options.id_file, session.run.id);
  if (!written) {
    session.warnings.push_back(fmt::format("cannot write --id-file {}: {}",
                                           printable(options.id_file), written.error().message()));
  }
}

// Everything of a session but its folder, which is there already.
Status fill_session(Session& session, const RecordOptions& options) {
  TS_TRY(session.memory, SharedMemory::create(ring_bytes()));
  TS_CHECK_OK(make_plumbing(session));
  session.memory->is_probe = options.probe ? 1 : 0;
  add_conveniences(session, options);
  session.others = own_children();
  return {};
}

// A run that never began leaves no folder; the first error is reported.
Error without_run(const Session& session, const Error& error) {
  (void)remove_run(session.run.path);
  return error;
}

Result<Session> make_session(const RecordOptions& options) {
  Session session;
  session.manifest = first_manifest(options);
  TS_TRY(const RunFolder folder, make_run_folder(options.home, session.manifest));
  session.run = folder.run;
  session.progress_pipe = folder.progress_pipe;
  session.wants_printed_steps = !options.steps_from.empty();
  if (const Status filled = fill_session(session, options); !filled) {
    return without_run(session, filled.error());
  }
  return session;
}

RecorderSetup recorder_setup(Session& session, const RecordOptions& options, bool shows_status) {
  RecorderSetup setup;
  setup.memory = session.memory;
  setup.run_path = session.run.path;
  setup.manifest = session.manifest;
  setup.working_directory = session.manifest.working_directory;
  setup.command = options.command;
  setup.source_options = options;
  setup.tensorboard = options.tensorboard;
  setup.steps_from = options.steps_from;
  setup.keep = options.keep;
  setup.output = &session.output;
  setup.supervisor_pid = ::getpid();
  setup.others = session.others;
  setup.wake_fd = session.wake.get();
  setup.ready_fd = session.ready.get();
  setup.lifeline_fd = session.lifeline.read.get();
  setup.log_fd = session.log.read.get();
  setup.progress_fd = session.progress.get();
  setup.period_ns = options.every_ns;
  setup.records_machine = session.manifest.records_machine;
  setup.reaps_orphans = options.attach_pid == 0;
  setup.publishes_status = shows_status;
  return setup;
}

MonitoredRecorder monitored(const Session& session, const RecorderSetup& setup) {
  MonitoredRecorder recorder;
  recorder.memory = session.memory;
  recorder.wake_fd = session.wake.get();
  recorder.ready_fd = session.ready.get();
  recorder.lifeline_write_fd = session.lifeline.write.get();
  recorder.period_ns = setup.period_ns;
  recorder.run = [setup](const std::string& restart_reason) {
    RecorderSetup own = setup;
    own.restart_reason = restart_reason;
    run_recorder(std::move(own));
  };
  return recorder;
}

int status_fd(const RecordOptions& options) {
  const char* terminal = ::getenv("TERM");
  const bool dumb = terminal == nullptr || std::string_view(terminal) == "dumb";
  // The reader of a pipe or socket (`| tee log`) may write to the same terminal, and we cannot
  // erase our line before that.
  struct stat out {};
  const bool others_write =
      ::fstat(STDOUT_FILENO, &out) == 0 && (S_ISFIFO(out.st_mode) || S_ISSOCK(out.st_mode));
  const bool wanted = !options.quiet && !dumb && !others_write;
  return wanted && ::isatty(STDERR_FILENO) == 1 ? STDERR_FILENO : -1;
}

StatusLine status_line(const RecordOptions& options) {
  const int fd = status_fd(options);
  const double cpus = fd < 0 ? 0 : usable_cpus("", options.attach_pid).value_or(0);
  return {fd, options.for_ns, cpus};
}

void set_zero(Session& session) {
  session.manifest = with_zero(std::move(session.manifest), *session.memory);
}

double since_zero_s(const Session& session, int64_t moment_ns) {
  return std::max(0.0, to_seconds(moment_ns - session.manifest.zero_monotonic_ns));
}

// The command after the job, as its own phase of the run.
void run_after(Session& session, Supervisor& supervisor, const RecordOptions& options,
               const std::map<std::string, std::string>& environment, JobEnd& end) {
  const double from = since_zero_s(session, end.ended_ns);
  session.manifest.phases.push_back({"job", 0, from});
  const JobEnd after =
      supervisor.run({"/bin/sh", "-c", options.after}, environment, 0, options.grace_ns);
  session.manifest.phases.push_back({"after", from, since_zero_s(session, after.ended_ns)});
  session.manifest.after_exit_code =
      after.exit_code ? after.exit_code : std::optional<int>(128 + after.signal.value_or(0));
  end.ended_ns = after.ended_ns;
}

// What the job and the command after it see in addition to our own variables.
std::map<std::string, std::string> progress_environment(const Session& session) {
  return {{"TRAINSCOPE_RUN_ID", session.run.id},
          {"TRAINSCOPE_PIPE", session.progress ? progress_path(session.run) : "/dev/null"}};
}

std::map<std::string, std::string> job_environment(const Session& session) {
  std::map<std::string, std::string> variables = progress_environment(session);
  if (session.has_instrument_files) {
    const auto value_of = [](const char* name) -> std::string_view {
      const char* value = ::getenv(name);
      return value == nullptr ? "" : value;
    };
    variables.merge(instrument_environment(session.run.path, value_of("PYTHONPATH"),
                                           value_of(kInstrumentVariable)));
  }
  return variables;
}

// One run from its folder to its end: the common part of `run` and `attach`.
struct Recording {
  SignalInbox signals;
  Session session;
  StatusLine status;
  RecorderMonitor monitor;
  Supervisor supervisor;

  Recording(SignalInbox inbox, Session made, const RecordOptions& options)
      : signals(std::move(inbox)),
        session(std::move(made)),
        status(status_line(options)),
        monitor(monitored(session, recorder_setup(session, options, status.enabled()))),
        supervisor(session.memory, session.output, signals, monitor, status,
                   session.log.write.get()) {}
};

// Makes the folder and starts the recorder; time has begun when it returns.
Result<std::unique_ptr<Recording>> begin_recording(const RecordOptions& options) {
  const bool runs_job = options.attach_pid == 0;
  hold_standard_descriptors();
  TS_TRY(SignalInbox signals, SignalInbox::open(runs_job));
  TS_TRY(Session session, make_session(options));
  if (runs_job) prctl(PR_SET_CHILD_SUBREAPER, 1);
  session.memory->job_pid = options.attach_pid;
  // On the heap: its parts refer to each other.
  auto recording = std::make_unique<Recording>(std::move(signals), std::move(session), options);
  recording->supervisor.ignore_children(recording->session.others);
  for (const std::string& warning : recording->session.warnings)
    recording->supervisor.print_message(warning);
  if (const Status started = recording->monitor.start(); !started) {
    return without_run(recording->session, started.error());
  }
  recording->monitor.wait_for_first_sample();
  set_zero(recording->session);
  return recording;
}

// The job has ended. Whatever happens from here on, the caller gets its outcome.
RecordOutcome end_recording(Recording& recording, const RecordOptions& options, const JobEnd& end) {
  Session& session = recording.session;
  Supervisor& supervisor = recording.supervisor;
  Manifest& m = session.manifest;
  m.exit_code = end.exit_code;
  m.signal = end.signal;
  m.ended_by = end.ended_by;
  bool closed = false, is_end_stored = false;
  try {
    RunToClose run{session.run.path, m, session.memory, session.lifeline.write.get(),
                   session.wants_printed_steps};
    run.keep = options.keep;
    closed = close_run(run, supervisor, recording.monitor, end);
    is_end_stored = run.is_end_stored;
    leave_relay_behind(session.output, supervisor, session.memory, session.lifeline.write);
  } catch (const std::exception& error) {
    supervisor.print_message(std::string("the end of the run could not be recorded: ") +
                             error.what());
  }
  session.memory.unmap();
  return {session.run.path, m, closed, is_end_stored};
}

}  // namespace

Result<RecordOutcome> record_job(const RecordOptions& options) {
  ScreenProcess screen;
  const Status started = options.screen ? screen.start(options.screen) : Status();
  auto begun = begin_recording(options);
  if (!begun && is_unwritable_home(begun.error())) {
    screen.end();
    return run_unrecorded(options, begun.error());
  }
  TS_TRY(const std::unique_ptr<Recording> recording, std::move(begun));
  Session& session = recording->session;
  if (!started)
    recording->supervisor.print_message("--top is not shown: " + started.error().message());
  // Ctrl-C while we were getting ready, with no job yet that it could reach.
  const int interrupted = SignalInbox::interrupted_by();
  if (interrupted == 0 && screen.cover(session.output, session.run.path)) {
    recording->supervisor.set_screen(screen);
  }
  JobEnd end = interrupted != 0
                   ? JobEnd{std::nullopt, interrupted, EndedBy::not_started, monotonic_ns()}
                   : recording->supervisor.run(options.command, job_environment(session),
                                               options.for_ns, options.grace_ns);
  if (!options.after.empty() && end.ended_by != EndedBy::not_started) {
    try {
      run_after(session, recording->supervisor, options, progress_environment(session), end);
    } catch (const std::exception& error) {
      recording->supervisor.print_message(std::string("--after did not run: ") + error.what());
    }
  }
  return end_recording(*recording, options, end);
}

int interrupting_signal() { return SignalInbox::interrupted_by(); }

Result<RecordOutcome> record_attached(const RecordOptions& options) {
  const ProcessHandle process(options.attach_pid);
  if (start_ticks(options.attach_pid) < 0) {
    return Error(fmt::format("process {} does not exist", options.attach_pid));
  }
  RecordOptions described = options;
  described.command = command_line_of(options.attach_pid);
  TS_TRY(const std::unique_ptr<Recording> recording, begin_recording(described));
  return end_recording(*recording, options,
                       recording->supervisor.follow(options.attach_pid, process, options.for_ns));
}

}  // namespace trainscope
