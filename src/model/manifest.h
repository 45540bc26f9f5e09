// What a recorder writes about a run besides its samples.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/limits.h"

namespace trainscope {

struct Event {
  double time_s = 0;
  std::string kind;
  std::string text;
};

struct Phase {
  std::string name;
  double from_s = 0;
  std::optional<double> to_s;
};

struct Setting {
  std::string name, value, from;  // from: flag, environment, file PATH, default
};

// How the job ended; `running` has no name in JSON (null).
enum class EndedBy { running, exit, signal, time_limit, not_started, detached, unknown };
std::string_view ended_by_name(EndedBy ended_by);
EndedBy ended_by_from_name(std::string_view name);

// One of the runs of `run --repeat N`.
struct Repeat {
  std::string group;             // "repeat-" and the id of the first; empty: not repeated
  int64_t index = 0, count = 0;  // 1 to count
};

// What `diagnose` said when the run ended, and by which version of its rules.
struct StoredVerdict {
  std::string verdict, cause;
  double confidence = 0;
  int64_t rules = 0;
};

// The run's identity card: small, written at start and end, enough for `list`.
struct Manifest {
  std::string id, name, note;
  std::map<std::string, std::string> tags;
  std::string started, ended;  // UTC text; ended is empty while it runs
  std::optional<double> duration_s;
  std::vector<std::string> command;  // secrets redacted
  std::string after_command;
  std::string working_directory;
  bool attached = false;
  // For an imported run: its format and path; empty otherwise. Its times are nominal, so jitter is
  // unknown.
  std::string imported_format, imported_path;
  std::optional<int> exit_code, signal, after_exit_code;
  EndedBy ended_by = EndedBy::running;
  std::string host_name, boot_id, trainscope_version;
  int64_t rank = 0, world_size = 1, local_rank = 0;
  // What the ranks that a launcher started together share: "slurm-4711.0"; empty outside a
  // launcher, and in runs of earlier versions.
  std::string job;
  int64_t restart = 0;          // how often the launcher has started this job again
  bool records_machine = true;  // false: another rank on this machine records the machine's metrics
  Repeat repeat;
  int64_t period_ns = 0;
  // Anchors of t = 0 on the three clocks.
  int64_t zero_monotonic_ns = 0, zero_boottime_ns = 0, zero_realtime_ns = 0;
  int64_t supervisor_pid = 0, supervisor_start_ticks = 0;
  std::optional<int64_t> steps;          // of the training; known at the end
  std::optional<double> steps_per_s;     // from the first reported step to the last
  std::optional<int64_t> bytes_written;  // of samples and events; known at the end
  std::optional<StoredVerdict> verdict;  // known after the end
  // Of the host as they were known when the run began; empty: they were never measured.
  std::optional<MachineLimits> limits;
  // Why the last samples could not be written; empty: they were, or the run has not ended.
  std::string unwritten_reason;
  std::vector<Setting> settings;
  std::vector<Phase> phases;
  std::vector<std::string> notes;  // caveats, such as "recorder did not reply at the end"
};

enum class RunStatus { running, ended, damaged };
std::string_view run_status_name(RunStatus status);

}  // namespace trainscope
