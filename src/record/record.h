// Recording: runs a job, or follows a running one, and records it (docs/architecture.md).
//
// Guarantees: the job's exit status, output, signals and speed are those of the bare run, whatever
// happens to us. Limits: Linux 4.18 and later.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "collect/collect.h"
#include "model/manifest.h"
#include "record/host/variables.h"

namespace trainscope {

// The options of single sources are members of SourceOptions.
struct RecordOptions : SourceOptions {
  std::vector<std::string> command;  // of run
  pid_t attach_pid = 0;              // of attach
  std::string home;
  std::string name, note;
  std::map<std::string, std::string> tags;
  int64_t every_ns = 100'000'000;
  int64_t for_ns = 0;  // 0: no limit
  int64_t grace_ns = 10'000'000'000;
  std::string after;  // a command for /bin/sh -c, run once the job has ended
  std::string id_file;
  std::vector<std::string> tensorboard;  // --tensorboard
  std::string steps_from;                // --steps-from
  std::vector<std::string> keep;         // --keep
  bool instrument = false;               // --instrument
  // The modules of --instrument experiment with the job (docs/adr/0020); it ends as by --for when
  // they have found out enough.
  bool probe = false;
  bool quiet = false;
  // Shown on the terminal of stdout and stderr while the job runs; runs in its own process. The job
  // then reads /dev/null instead of the terminal.
  std::function<int(const std::string& run_path)> screen;
  Repeat repeat_of;               // of --repeat; the first run has no group yet
  std::vector<Setting> settings;  // as shown by `info`, secrets redacted
};

struct RecordOutcome {
  std::string run_path;
  Manifest manifest;  // without the notes and the byte count that a child process adds at the end
  bool is_closed = true;      // false: the run folder did not respond, or there is none
  bool is_end_stored = true;  // false: the run folder lacks the end that `manifest` has
};

// A pattern of --steps-from: PCRE2 with at least one of the groups that a printed step may have.
Status check_steps_pattern(const std::string& pattern);

// Runs the job under the recorder until it ends. An Error means that the job was never started.
Result<RecordOutcome> record_job(const RecordOptions& options);
// The signal that ended this process during a run, before its job began or between two runs; 0 if
// none.
int interrupting_signal();
// Follows a running process and its tree until it ends, --for is over or Ctrl-C.
Result<RecordOutcome> record_attached(const RecordOptions& options);

// For a child process that reads a run: how long it may take and how much memory, so that neither
// this process nor its control group runs out of it.
struct ChildLimits;
ChildLimits reading_limits();

// Properties of the host, including those that are slow to find, as a JSON object (stored in the
// run, shown by `info` and `doctor`). Unknown is null. Starts no program; `root` is the prefix of
// every path. `pid`: an attached job, whose limits and variables are used; 0: our own, which a job
// that we start inherits.
std::string host_inventory(const std::string& root, const std::string& working_directory,
                           const std::vector<std::string>& command,
                           const std::string& run_folder = "", pid_t pid = 0);
// Secrets become ***: values whose names indicate a secret (…KEY…, …TOKEN…, …SECRET…, …PASS…), and
// words that look like one.
//
// Guarantees: when in doubt the value is hidden. Limits: a secret without a name next to it (a bare
// word) is recognised only by the shape that its issuer gives it (hf_…, ghp_…, AKIA…).
std::vector<std::string> redact_command(const std::vector<std::string>& command);
// Names with their values in running text (`PASSWORD=x`, `"api_key": "x"`, `--token x`),
// credentials in URLs, the word after `Bearer`, and tokens of known shapes.
std::string redact_text(std::string_view text);
// A shell command: additionally the secrets of each command in it, as redact_command() hides them.
// Spacing and the quotes around words stay.
std::string redact_line(std::string_view line);
// Tags of a run: the value of a key that indicates a secret, and secrets within other values.
std::map<std::string, std::string> redact_tags(const std::map<std::string, std::string>& tags);

// The variables worth keeping (by allow-list), secrets redacted.
std::map<std::string, std::string> selected_environment(
    const Variables& variables = Variables::ours());

struct Rank {
  int64_t rank = 0, world_size = 1, local_rank = 0;
  std::string from;  // "SLURM_PROCID", "RANK", "OMPI_COMM_WORLD_RANK" or ""
};
Rank rank_from_environment(const Variables& variables = Variables::ours());

}  // namespace trainscope
