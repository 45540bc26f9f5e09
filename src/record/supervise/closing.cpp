#include "record/supervise/closing.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/bounded_child.h"
#include "base/clock.h"
#include "base/interrupted.h"
#include "base/text.h"
#include "format/format.h"
#include "kernel/cgroup_limits.h"
#include "kernel/process_handle.h"
#include "model/model.h"
#include "model/training.h"
#include "record/intake/progress.h"
#include "record/record.h"
#include "record/sample/settle.h"
#include "record/supervise/instrument.h"
#include "record/supervise/keep_files.h"
#include "record/supervise/run_folder.h"
#include "store/store.h"

namespace trainscope {

namespace {

constexpr int64_t kReadingLimitNs = 10 * kNsPerSecond;
constexpr int64_t kClosingLimitNs = 15 * kNsPerSecond;
constexpr int64_t kKeepingLimitNs = 2 * kNsPerSecond;
constexpr useconds_t kRecorderPauseUs = 50'000;
constexpr int64_t kMiB = 1 << 20;
constexpr int64_t kLeastReadingBytes = 32 * kMiB, kMostReadingBytes = 8192 * kMiB;

// MemAvailable; as much as there may be when it is not known.
int64_t available_memory() {
  const auto text = read_file("/proc/meminfo", 65536);
  const size_t at = text ? text->find("MemAvailable:") : std::string::npos;
  if (at == std::string::npos) return INT64_MAX;
  const std::string_view rest = trim(std::string_view(*text).substr(at + 13));
  const auto kilobytes = parse_integer(rest.substr(0, rest.find(' ')));
  return kilobytes ? *kilobytes * 1024 : INT64_MAX;
}

// For `list`, which reads nothing but manifests. The recorder has counted the steps; only where it
// could not, or where not all of them are in the run folder, the run is read. False when the run
// folder does not respond.
bool count_steps(const RunToClose& run) {
  const Shared& shared = *run.memory;
  if (shared.next_report == 0) return true;
  if (shared.steps.is_known() && shared.next_report == shared.sealed_reports) {
    run.manifest.steps = shared.steps.count(shared.output_is_shared != 0);
    run.manifest.steps_per_s = shared.steps.steps_per_s(shared.output_is_shared != 0);
    return true;
  }
  const ChildAnswer answer = ask_child(reading_limits(), [&] {
    const auto opened = open_run(run.run_path);
    if (!opened || !(*opened)->training().count) return std::string();
    const Training& training = (*opened)->training();
    return fmt::format("{} {}", *training.count, training.steps_per_s.value_or(0));
  });
  if (answer.end == ChildEnd::done) {
    const auto words = split(answer.text, ' ');
    run.manifest.steps = parse_integer(words.front());
    const auto rate = parse_number(words.back());
    if (run.manifest.steps && rate && *rate > 0) run.manifest.steps_per_s = rate;
  }
  return answer.end != ChildEnd::hung;
}

// Completes the manifest once the last samples are written, or cannot be written.
void complete_manifest(const RunToClose& run) {
  Manifest& m = run.manifest;
  const Shared& shared = *run.memory;
  m.bytes_written = shared.bytes_written;
  if (shared.output_dropped > 0) {
    m.notes.push_back(fmt::format(
        "output.log lacks {} bytes that could not be written, or that the reader of the "
        "output was too slow for",
        shared.output_dropped.load()));
  }
  for (std::string& note : progress_notes(shared, run.wants_printed_steps)) {
    m.notes.push_back(std::move(note));
  }
  if (is_instrumented(m) && shared.instrumented_processes == 0) {
    std::erase(m.notes, probe_note());  // nothing was changed
    m.notes.push_back(no_instrumentation_note());
  }
}

Status complete_run(const RunToClose& run, bool is_sealed) {
  complete_manifest(run);
  ::unlink(reserve_path(run.run_path).c_str());  // space for the manifest on a full disk
  Status written = write_manifest(run.run_path, run.manifest);
  ::unlink((run.run_path + "/progress").c_str());
  (void)remove_instrument_folder(run.run_path);
  settle_in_background(run.run_path, is_sealed);
  return written;
}

// In the child: to the end, however long the file system takes. Returns the error, or "".
std::string write_end(const RunToClose& run, bool is_late, const ProcessHandle& recorder) {
  prctl(PR_SET_NAME, "trainscope-end");
  if (is_late) {
    // If a hanging disk blocks the recorder, it completes the samples first.
    while (run.memory->finished == kWriting && !recorder.has_ended()) ::usleep(kRecorderPauseUs);
    (void)count_steps(run);
  }
  const Status written = complete_run(run, run.memory->finished == kAllWritten);
  return written ? "" : written.error().message();
}

// Copies files of --keep; returns what could not be copied, or "". Both folders may hang.
std::string keep_files_of(const RunToClose& run) {
  const auto kept = keep_files({run.run_path, run.manifest.working_directory, run.keep});
  return kept ? keep_warning(*kept) : "the files of --keep are not kept: " + kept.error().message();
}

// The manifest is written by now: whatever happens to these files, the run is complete. A child
// that takes longer than `limit_ns` continues alone.
ChildAnswer keep_files_in_child(const RunToClose& run, int64_t limit_ns) {
  const ChildLimits limits{kHangNs, limit_ns, 0, false, true, {}};
  return ask_child(limits, [&] {
    prctl(PR_SET_NAME, "trainscope-end");
    return keep_files_of(run);
  });
}

// The same; tells the user what is not kept, or not yet.
void keep_files_in_time(const RunToClose& run, Supervisor& supervisor) {
  const ChildAnswer answer = keep_files_in_child(run, kKeepingLimitNs);
  if (answer.end == ChildEnd::hung || answer.end == ChildEnd::too_slow) {
    supervisor.print_message("the files of --keep are still being copied in the background");
  } else if (answer.end != ChildEnd::done) {
    supervisor.print_message("the files of --keep are not kept: " + answer.text);
  } else if (!answer.text.empty()) {
    supervisor.print_message(answer.text);
  }
}

// A monotonic time as a date: closing a run may take seconds, which are not the job's.
std::string wall_time_of(int64_t monotonic) {
  return utc_text(realtime_ns() - (monotonic_ns() - monotonic));
}

// Of samples that the run folder does not have: the reason for the gap at the end.
std::string unwritten_reason(int error_number) {
  const std::string text = "the run folder could not be written";
  return error_number == 0 ? text : text + ": " + ::strerror(error_number);
}

std::string message_of(RecorderEnd end) {
  switch (end) {
    case RecorderEnd::not_all_written:
      return "the recorder could not write its last samples";
    case RecorderEnd::no_reply:
      return "the recorder did not reply at the end of the job; its last samples may be missing";
    case RecorderEnd::all_written:
    case RecorderEnd::still_writing:
      break;
  }
  return "";
}

// A job that could not be executed, most likely a typo: its run has nothing to show.
void discard_run(const RunToClose& run, RecorderMonitor& monitor) {
  (void)monitor.finish();
  const ChildLimits limits{kHangNs, kClosingLimitNs, 0, false, true, {}};
  (void)ask_child(limits, [&] {
    (void)remove_run(run.run_path);
    return std::string();
  });
}

}  // namespace

ChildLimits reading_limits() {
  ChildLimits limits;
  limits.idle_ns = kHangNs;
  limits.total_ns = kReadingLimitNs;
  const int64_t group = read_cgroup_limits("", 0).memory_bytes.value_or(INT64_MAX);
  limits.memory_bytes =
      std::clamp(std::min(available_memory(), group) / 2, kLeastReadingBytes, kMostReadingBytes);
  return limits;
}

void close_run_alone(RunToClose& run, bool is_sealed) {
  Manifest& m = run.manifest;
  m.duration_s = to_seconds(run.memory->job_ended_ns - run.memory->zero_ns);
  m.ended = wall_time_of(run.memory->job_ended_ns);
  m.ended_by = EndedBy::unknown;
  m.notes.emplace_back("the supervisor was killed; the outcome of the job is unknown");
  (void)count_steps(run);
  (void)complete_run(run, is_sealed);
  // Not here: daemons of the job may still write output that this process passes on.
  if (!run.keep.empty()) (void)keep_files_in_child(run, 0);
}

bool close_run(RunToClose& run, Supervisor& supervisor, RecorderMonitor& monitor,
               const JobEnd& end) {
  Manifest& m = run.manifest;
  run.memory->job_ended_ns = end.ended_ns;
  if (end.ended_by == EndedBy::not_started && end.exit_code) {
    discard_run(run, monitor);
    return false;
  }
  supervisor.drain_output();
  supervisor.note_unlogged_output();
  const RecorderEnd recorder_end = monitor.finish();
  if (const std::string message = message_of(recorder_end); !message.empty()) {
    m.notes.push_back(message);
    supervisor.print_message(message);
  }
  if (recorder_end == RecorderEnd::not_all_written) {
    m.unwritten_reason = unwritten_reason(run.memory->storage_error);
  } else if (recorder_end == RecorderEnd::no_reply) {
    m.unwritten_reason = "the recorder did not reply at the end of the job";
  }
  m.duration_s = std::max(0.0, to_seconds(end.ended_ns - m.zero_monotonic_ns));
  m.ended = wall_time_of(end.ended_ns);
  const ProcessHandle recorder(monitor.pid());
  ChildLimits limits{kHangNs, kClosingLimitNs, 0, false, true, {run.lifeline_fd, recorder.fd()}};
  const bool hangs = recorder_end == RecorderEnd::still_writing || !count_steps(run);
  if (hangs) limits.idle_ns = 0;
  ChildAnswer closed = ask_child(limits, [&] { return write_end(run, hangs, recorder); });
  // No process is to be had: the end is recorded all the same.
  if (closed.end == ChildEnd::not_started && !hangs) closed.text = write_end(run, hangs, recorder);
  if (hangs || closed.end == ChildEnd::hung || closed.end == ChildEnd::too_slow) {
    supervisor.print_message("the run folder does not respond: " + run.run_path +
                             (closed.end == ChildEnd::not_started
                                  ? "; the end of the run could not be recorded: " + closed.text
                                  : "; the run is completed in the background once it does"));
    if (!run.keep.empty()) (void)keep_files_in_child(run, 0);
    return false;
  }
  if (!closed.text.empty()) {
    run.is_end_stored = false;
    supervisor.print_message("the end of the run could not be recorded: " + closed.text);
  }
  if (!run.keep.empty()) keep_files_in_time(run, supervisor);
  return true;
}

void leave_relay_behind(OutputPlan& output, Supervisor& supervisor, SharedMemory memory,
                        UniqueFd& lifeline) {
  output.job_stdout.reset();
  output.job_stderr.reset();
  // No waiting: until the fork nothing else passes the output on.
  supervisor.drain_output(0);
  if (!supervisor.output_is_open() || ::fork() != 0) return;
  prctl(PR_SET_NAME, "trainscope-rly");
  null_standard_streams();
  lifeline.reset();
  while (supervisor.output_is_open()) {
    std::vector<pollfd> polls;
    for (const OutputChannel& channel : output.channels)
      polls.push_back(channel.poll_request(*memory));
    (void)poll_whole(polls, -1);
    for (OutputChannel& channel : output.channels) channel.pump(*memory, -1);
  }
  ::_exit(0);
}

}  // namespace trainscope
