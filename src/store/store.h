// The store: the home, which is a folder with one folder per run (docs/run-format.md), and the
// reading of runs. format/ has the bytes; the recorder writes them by SegmentWriter.
//
// Guarantees: a reader never changes a run; a damaged part is a gap with its reason; a run can be
// read while it is written, from another host too. Limits: no lock, so one recorder per run.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "model/manifest.h"
#include "model/metric.h"
#include "store/home/edit.h"
#include "store/home/groups.h"
#include "store/home/host_limits.h"
#include "store/home/run_argument.h"
#include "store/read/footprint.h"
#include "store/read/kept_files.h"
#include "store/read/run_follower.h"

namespace trainscope {

class RunView;  // model/model.h, which writers of runs do not need

// ---- The home

// A new, empty run folder (0700) in `home`, which is created if it does not exist. Its name is the
// run's id: eight characters of time in milliseconds and two of random bits, so ids sort by time
// and 64 ranks that start at once get 64 folders.
struct NewRun {
  std::string id, path;
};
Result<NewRun> create_run(const std::string& home);

// Writes a run that has ended (format/run_data.h) into `home`. It appears there complete or not at
// all: it is written to a folder of another name, which is renamed at the end. Such folders that
// nothing was written to for a day are removed: their writers were killed.
struct RunData;
struct WrittenRun;
Result<WrittenRun> write_run(const std::string& home, const RunData& run);

struct RunListing {
  std::string path;
  Manifest manifest;
  RunStatus status = RunStatus::ended;
  std::string problem;  // of a damaged run: the damage, with file and offset
};
// All runs of a home, oldest first. Foreign files are ignored, a damaged run is listed as such.
// However large a run is, little of it is read.
Result<std::vector<RunListing>> list_runs(const std::string& home);
// Only the names of their folders, in the same order.
Result<std::vector<std::string>> run_folders(const std::string& home);

// When the last sample of a listed run was taken, for one that has no duration; nothing if it
// cannot be read. Little is read here too.
std::optional<double> last_sample_s(const std::string& run_path);

// The folder that a RUN argument means: a path, an id, a name (the newest of that name), a unique
// prefix of an id, `latest`, `latest~2`, `NAME~1` (the one before the newest of that name) or
// `NAME*` (the newest whose name matches). The error lists similar names.
// A group is not one run: the error names its runs.
Result<std::string> find_run(const std::string& home, const std::string& text);
// All that it means, oldest first: every run of that name, every one whose name matches, and those
// of a group.
Result<std::vector<std::string>> find_runs(const std::string& home, const std::string& text);
// The same, and the group if the argument is the id of one: a name and a prefix of a run's id take
// precedence.
struct RunTarget {
  std::vector<std::string> paths;
  std::optional<RunGroup> group = std::nullopt;
};
Result<RunTarget> find_target(const std::string& home, const std::string& text);
// The run of the same job that has the metrics of the machine on which this one was recorded; this
// run itself if it has them, nothing if no stored run does. `run_path` is absolute.
// Reads the manifests of its home only if it must, and only those of runs that began within a day
// of this one.
std::optional<RunListing> find_machine_run(const std::string& run_path, const Manifest& manifest);
// One run as list_runs gives it.
RunListing list_run(const std::string& run_path);
// An Error if a run cannot have this name, because find_run reads it as an id, a path, `latest`,
// `NAME~1` or a pattern.
Status check_run_name(std::string_view name);

// Is a run being recorded, here or elsewhere?
//
// Guarantees: on the kernel that records it, in another container too, the result is exact: the
// supervisor's process, or any process that has the run's pipe open. Limits: on another host only
// the age of its files is known, and a network file system shows them late; a recording that was
// suspended there looks like one that ended.
enum class Liveness {
  ended,             // its end is recorded, or no process can be recording it any more
  here,              // a process of this kernel records it
  elsewhere,         // another host wrote to it a short while ago
  silent_elsewhere,  // another host began it and recorded no end, but has written nothing for long
};
Liveness liveness(const std::string& run_path, const Manifest& manifest);
// The same for a run whose manifest cannot be read.
Liveness liveness_without_manifest(const std::string& run_path);
// The same as the status that `list` shows.
RunStatus run_status(const std::string& run_path, const Manifest& manifest);

// The disk space that a run's own files take.
Result<int64_t> run_disk_bytes(const std::string& run_path);

struct Removed {
  int64_t bytes = 0;                 // of disk space, freed
  std::vector<std::string> foreign;  // names that are not ours and stay, with the folder
};
// Removes a run's own files, never through a link, and then its folder. The manifest is removed
// last, so that an interrupted removal can be repeated. The caller has made sure that the run is
// not being recorded.
Result<Removed> remove_run(const std::string& run_path);

// The folder of a run with the Python modules of `run --instrument`, while its job runs. Python may
// store bytecode in it.
inline constexpr std::string_view kInstrumentFolder = "instrument";
// Removes it, never through a link; no error if it does not exist.
Status remove_instrument_folder(const std::string& run_path);

// ---- One run

// Opens a run for reading. Errors name file and offset.
Result<std::unique_ptr<RunView>> open_run(const std::string& run_path,
                                          Footprint footprint = Footprint::usual);
// The same for a run whose last manifest could not be written: `manifest` replaces it.
Result<std::unique_ptr<RunView>> open_run(const std::string& run_path, const Manifest& manifest);

// A path that find_target gave, absolute and without a slash at its end.
std::string absolute_run_path(const std::string& path);
// The run at such a path, opened by its absolute one.
Result<std::unique_ptr<RunView>> open_found_run(const std::string& path);

// The same run with the metrics of its machine, if it has none and another rank of its job recorded
// them (store/read/machine_series.h); if it has them, with the CPU time of the other ranks on that
// machine. If no such run can be read, it stays as it is. `of_job`: runs
// of its job as far as they are known; only if these do not suffice is its home searched.
std::unique_ptr<RunView> with_machine_series(std::unique_ptr<RunView> run,
                                             const std::vector<RunListing>& of_job = {});

// The metrics that are computed on reading; one that depends on the command line has its pattern.
std::vector<MetricSpec> derived_metrics();

using SqlValue = std::variant<std::monostate, int64_t, double, std::string>;
struct SqlOutput {
  std::function<Status(const std::vector<std::string>&)> columns;
  std::function<Status(const std::vector<SqlValue>&)> row;
};
// A table that a query may read, for help and reference.
struct SqlTable {
  std::string name;
  std::string columns;  // "time_s, kind, text"
  std::string help;
};
std::vector<SqlTable> sql_tables();
// Of a run with more reports than this, the tables `steps`, `phases` and `numbers` are not held in
// memory.
inline constexpr int64_t kMaxFilledReports = 500'000;
// Instead a query goes through them, so often at most: a pass takes seconds, and a join may make
// one for each row of the other table.
inline constexpr int kMaxStreamedPasses = 10;
// Runs one read-only statement over the tables samples, metrics, steps, phases, numbers, events and
// gaps. An Error has SQLite's own message.
Status query_sql(const RunView& run, const std::string& query, const SqlOutput& output,
                 int64_t most_filled = kMaxFilledReports);
// The same as CSV with a header.
Status run_sql(const RunView& run, const std::string& query,
               const std::function<Status(std::string_view)>& out);
// Both over the runs of a group: each table has the rows of all of them and begins with the columns
// `run` and `rank`; the table `runs` has a row for each.
Status query_group_sql(const RunGroup& group, const std::string& query, const SqlOutput& output,
                       int64_t most_filled = kMaxFilledReports);
Status run_group_sql(const RunGroup& group, const std::string& query,
                     const std::function<Status(std::string_view)>& out);
// Tables that only a query over a group may read.
std::vector<SqlTable> group_sql_tables();

}  // namespace trainscope
