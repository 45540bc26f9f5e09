#include "record/record.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <memory>

#include "base/clock.h"
#include "collect/support/process_handle.h"
#include "collect/support/process_tree.h"
#include "model/training.h"
#include "record/inventory.h"
#include "record/progress.h"
#include "record/redact.h"
#include "record/supervisor.h"
#include "store/remove.h"
#include "store/store.h"
#include "version.h"

namespace trainscope {

namespace {

// Everything that one run needs, in the order in which it must go away.
struct Session {
  NewRun run;
  Manifest manifest;
  SharedMemory memory;
  OutputPlan output;
  UniqueFd wake, ready, lifeline_read, lifeline_write, log_read, log_write, progress;
  std::vector<pid_t> others;  // children that we had before the run
  bool wants_printed_steps = false;
};

// No descriptor of ours may become 0, 1 or 2. One of these that the caller closed is closed for the
// job too: ours closes on exec.
void hold_standard_descriptors() {
  for (;;) {
    UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
    if (!null || null.get() > STDERR_FILENO) return;
    (void)null.release();
  }
}

// Room for a block of rows and as much again; rows grow with the processors.
size_t ring_bytes() {
  const auto cpus = static_cast<size_t>(std::max(1L, sysconf(_SC_NPROCESSORS_CONF)));
  const size_t row = (100 + cpus * 9) * sizeof(int64_t);
  return std::clamp<size_t>(row * 2400, size_t{2} << 20, size_t{8} << 20) / 4096 * 4096;
}

std::string current_folder() {
  char* text = ::getcwd(nullptr, 0);
  std::string folder = text == nullptr ? "" : text;
  ::free(text);
  return folder;
}

std::string host_name() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return name;
}

Manifest first_manifest(const RecordOptions& options, const NewRun& run) {
  Manifest m;
  m.id = run.id;
  m.name = options.name;
  m.note = options.note;
  m.tags = options.tags;
  m.started = utc_text(realtime_ns());
  m.command = redact_command(options.command);
  m.after_command = redact_text(options.after);
  m.working_directory = options.attach_pid == 0 ? current_folder() : folder_of(options.attach_pid);
  m.attached = options.attach_pid != 0;
  m.host_name = host_name();
  if (auto boot = read_line("/proc/sys/kernel/random/boot_id")) m.boot_id = *boot;
  m.trainscope_version = kVersion;
  const Rank rank = rank_from_environment();
  m.rank = rank.rank;
  m.world_size = rank.world_size;
  m.local_rank = rank.local_rank;
  m.period_ns = options.every_ns;
  m.supervisor_pid = ::getpid();
  m.supervisor_start_ticks = start_ticks(::getpid());
  m.settings = options.settings;
  for (Setting& setting : m.settings) {
    if (setting.name == "after") setting.value = m.after_command;
  }
  if (m.attached) {
    m.notes.emplace_back(
        "attached to a running job: a process that left its parent between two ticks may not be "
        "counted");
  }
  return m;
}

Status make_plumbing(Session& session) {
  int fds[2];
  session.wake.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  session.ready.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!session.wake || !session.ready) return Error::from_errno("cannot make an eventfd", errno);
  if (::pipe2(fds, O_CLOEXEC) != 0) return Error::from_errno("cannot make a pipe", errno);
  session.lifeline_read.reset(fds[0]);
  session.lifeline_write.reset(fds[1]);
  if (::pipe2(fds, O_CLOEXEC | O_NONBLOCK) != 0)
    return Error::from_errno("cannot make a pipe", errno);
  session.log_read.reset(fds[0]);
  session.log_write.reset(fds[1]);
  fcntl(session.log_write.get(), F_SETPIPE_SZ, 1 << 20);
  const std::string path = session.run.path + "/progress";
  if (::mkfifo(path.c_str(), 0600) != 0) return Error::from_errno("cannot make " + path, errno);
  // For reading and writing: it lives as long as we do, whoever else opens and closes it.
  TS_TRY(session.progress, open_file(path, O_RDWR | O_NONBLOCK));
  fcntl(session.progress.get(), F_SETPIPE_SZ, 1 << 20);
  return {};
}

// Everything of a session but its folder, which is there already.
Status fill_session(Session& session, const RecordOptions& options) {
  session.manifest = first_manifest(options, session.run);
  session.others = own_children();
  TS_TRY(session.memory, SharedMemory::create(ring_bytes()));
  TS_CHECK_OK(make_plumbing(session));
  if (options.attach_pid == 0) {
    TS_TRY(session.output, plan_output());
  }
  // Proves that the folder can be written before anything is started.
  TS_CHECK_OK(write_manifest(session.run.path, session.manifest));
  if (!options.id_file.empty()) TS_CHECK_OK(replace_file(options.id_file, session.run.id + "\n"));
  return {};
}

// A run that never began leaves no folder behind; the error stays the one that ended it.
Error without_run(const Session& session, const Error& error) {
  (void)remove_run(session.run.path);
  return error;
}

Result<Session> make_session(const RecordOptions& options) {
  Session session;
  TS_TRY(session.run, create_run(options.home));
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
  setup.counters = options.counters;
  setup.data = options.data;
  setup.perf = options.perf;
  setup.tensorboard = options.tensorboard;
  setup.steps_from = options.steps_from;
  setup.output = &session.output;
  setup.supervisor_pid = ::getpid();
  setup.others = session.others;
  setup.wake_fd = session.wake.get();
  setup.ready_fd = session.ready.get();
  setup.lifeline_fd = session.lifeline_read.get();
  setup.log_fd = session.log_read.get();
  setup.progress_fd = session.progress.get();
  setup.period_ns = options.every_ns;
  setup.records_machine = session.manifest.local_rank == 0;
  setup.reaps_orphans = options.attach_pid == 0;
  setup.publishes_status = shows_status;
  return setup;
}

int status_fd(const RecordOptions& options) {
  const char* terminal = ::getenv("TERM");
  const bool dumb = terminal == nullptr || std::string_view(terminal) == "dumb";
  // Whoever reads a pipe or socket (`| tee log`) may write to the same terminal, and we cannot wipe
  // our line before that.
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
  session.manifest.zero_monotonic_ns = session.memory->zero_ns;
  session.manifest.zero_boottime_ns = session.memory->zero_boottime_ns;
  session.manifest.zero_realtime_ns = session.memory->zero_realtime_ns;
  session.manifest.started = utc_text(session.manifest.zero_realtime_ns);
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

constexpr int kCountLimitMs = 5000;

// For `list`, which reads nothing but manifests. In a process of its own, for as long as is decent:
// a run of millions of steps takes memory to read, and running out of it must not cost the job's
// exit status.
std::optional<int64_t> count_steps(const Session& session) {
  int ends[2] = {-1, -1};
  if (session.memory->next_report == 0 || ::pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  UniqueFd read_end(ends[0]), write_end(ends[1]);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto run = open_run(session.run.path);
    const int64_t count = run ? (*run)->training().count.value_or(-1) : -1;
    (void)!::write(write_end.get(), &count, sizeof count);
    ::_exit(0);
  }
  if (child < 0) return std::nullopt;
  write_end.reset();
  pollfd ready = {read_end.get(), POLLIN, 0};
  int64_t count = -1;
  const bool told = ::poll(&ready, 1, kCountLimitMs) == 1 &&
                    ::read(read_end.get(), &count, sizeof count) == sizeof count;
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  return told && count >= 0 ? std::optional(count) : std::nullopt;
}

void close_run(Session& session, Supervisor& supervisor, RecorderKeeper& keeper,
               const JobEnd& end) {
  session.memory->job_ended_ns = end.ended_ns;
  supervisor.drain_output();
  const Status finished = keeper.finish();
  Manifest& m = session.manifest;
  if (!finished) {
    m.notes.push_back(finished.error().message());
    supervisor.say(finished.error().message());
  }
  m.exit_code = end.exit_code;
  m.signal = end.signal;
  m.ended_by = end.ended_by;
  m.duration_s = since_zero_s(session, end.ended_ns);
  m.ended = utc_text(realtime_ns());
  m.bytes_written = session.memory->bytes_written;
  if (session.memory->output_dropped > 0) {
    m.notes.push_back(
        fmt::format("output.log lacks {} bytes that could not be kept in time or at all",
                    session.memory->output_dropped.load()));
  }
  m.steps = count_steps(session);
  if (session.wants_printed_steps && session.memory->next_report == 0) {
    m.notes.push_back("--steps-from matched no line that was printed");
  }
  for (std::string& note : progress_notes(*session.memory)) m.notes.push_back(std::move(note));
  if (const Status written = write_manifest(session.run.path, m); !written) {
    supervisor.say("the end of the run could not be recorded: " + written.error().message());
  }
  ::unlink((session.run.path + "/progress").c_str());
}

// A daemon of the job still holds our pipe or pty: a small process stays behind and passes its
// output on, as the bare run's pipe or terminal would have taken it.
void leave_relay_behind(Session& session, Supervisor& supervisor) {
  session.output.job_stdout.reset();
  session.output.job_stderr.reset();
  // No waiting: from here to the fork there is nobody else to pass on.
  supervisor.drain_output(0);
  if (!supervisor.output_is_open() || ::fork() != 0) return;
  prctl(PR_SET_NAME, "trainscope-rly");
  const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (int fd = 0; fd < 3; ++fd) ::dup2(null.get(), fd);
  session.lifeline_write.reset();
  while (supervisor.output_is_open()) {
    std::vector<pollfd> polls;
    for (const OutputChannel& channel : session.output.channels) {
      polls.push_back(channel.wanted(*session.memory));
    }
    ::poll(polls.data(), polls.size(), -1);
    for (OutputChannel& channel : session.output.channels) channel.pump(*session.memory, -1);
  }
  ::_exit(0);
}

// One run from its folder to its end: what `run` and `attach` have in common.
struct Recording {
  SignalInbox signals;
  Session session;
  StatusLine status;
  RecorderKeeper keeper;
  Supervisor supervisor;

  Recording(SignalInbox inbox, Session made, const RecordOptions& options)
      : signals(std::move(inbox)),
        session(std::move(made)),
        status(status_line(options)),
        keeper(recorder_setup(session, options, status.enabled()), session.lifeline_write.get()),
        supervisor(session.memory, session.output, signals, keeper, status,
                   session.log_write.get()) {}
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
  recording->supervisor.leave_alone(recording->session.others);
  if (const Status started = recording->keeper.start(); !started) {
    return without_run(recording->session, started.error());
  }
  recording->keeper.wait_for_first_sample();
  set_zero(recording->session);
  (void)write_manifest(recording->session.run.path, recording->session.manifest);
  return recording;
}

RecordOutcome end_recording(Recording& recording, const JobEnd& end) {
  Session& session = recording.session;
  close_run(session, recording.supervisor, recording.keeper, end);
  leave_relay_behind(session, recording.supervisor);
  session.memory.unmap();
  return {session.run.path, session.manifest};
}

}  // namespace

Result<RecordOutcome> record_job(const RecordOptions& options) {
  TS_TRY(const std::unique_ptr<Recording> recording, begin_recording(options));
  Session& session = recording->session;
  const std::map<std::string, std::string> environment = {
      {"TRAINSCOPE_RUN_ID", session.run.id}, {"TRAINSCOPE_PIPE", session.run.path + "/progress"}};
  // Ctrl-C while we were getting ready, with no job yet that it could reach.
  const int interrupted = SignalInbox::interrupted_by();
  JobEnd end = interrupted != 0
                   ? JobEnd{std::nullopt, interrupted, EndedBy::not_started, monotonic_ns()}
                   : recording->supervisor.run(options.command, environment, options.for_ns,
                                               options.grace_ns);
  if (!options.after.empty() && end.ended_by != EndedBy::not_started) {
    run_after(session, recording->supervisor, options, environment, end);
  }
  return end_recording(*recording, end);
}

int interrupting_signal() { return SignalInbox::interrupted_by(); }

Result<RecordOutcome> record_attached(const RecordOptions& options) {
  const ProcessHandle process(options.attach_pid);
  if (start_ticks(options.attach_pid) < 0) {
    return Error(fmt::format("there is no process {}", options.attach_pid));
  }
  RecordOptions described = options;
  described.command = words_of(options.attach_pid);
  TS_TRY(const std::unique_ptr<Recording> recording, begin_recording(described));
  return end_recording(*recording,
                       recording->supervisor.follow(options.attach_pid, process, options.for_ns));
}

}  // namespace trainscope
