// The store: one folder a run (docs/run-format.md). Writing is SegmentWriter's, reading is
// open_run's.
//
// Guarantees: a reader never changes a run; a damaged part is a gap with its reason; a run can be
// read while it is written, from another host too. Limits: no lock, so one recorder a run.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/model.h"

namespace trainscope {

// A new, empty run folder (0700) in `home`, which is made when it is missing. Its name is the run's
// id: eight characters of time in milliseconds and two of chance, so ids sort by time and 64 ranks
// that start at once get 64 folders.
struct NewRun {
  std::string id, path;
};
Result<NewRun> create_run(const std::string& home);

std::string manifest_to_json(const Manifest& manifest);
// EBADMSG in the Error when the text is ruined; not when it is of a newer format.
Result<Manifest> manifest_from_json(std::string_view text);
Status write_manifest(const std::string& run_path, const Manifest& manifest);
Result<Manifest> read_manifest(const std::string& run_path);

// Is this run being recorded now? By the supervisor's process here, by the age of `tail` elsewhere.
RunStatus run_status(const std::string& run_path, const Manifest& manifest);

struct RunListing {
  std::string path;
  Manifest manifest;
  RunStatus status = RunStatus::ended;
  std::string problem;  // of a damaged run: what is wrong, naming file and offset
};
// All runs of a home, oldest first. Foreign files are ignored, a damaged run is listed as such.
// However large a run is, little of it is read.
Result<std::vector<RunListing>> list_runs(const std::string& home);

// When the last sample of a listed run was taken, for one that has no duration of its own; nothing
// when it cannot be read. Little is read here too.
std::optional<double> last_sample_s(const std::string& run_path);

// The folder that a RUN argument means: a path, an id, a name (the newest of that name), a unique
// prefix of an id, `latest`, `latest~2`, `NAME~1` (the one before the newest of that name) or
// `NAME*` (the newest whose name matches). The error lists what is near.
Result<std::string> find_run(const std::string& home, const std::string& text);
// All that it means, oldest first: every run of that name, and every one whose name matches.
Result<std::vector<std::string>> find_runs(const std::string& home, const std::string& text);

// Opens a run for reading. Errors name file and offset.
Result<std::unique_ptr<RunView>> open_run(const std::string& run_path);

// Runs SQL over the views samples, metrics, steps, events and gaps; rows go out as CSV with a
// header.
Status run_sql(const RunView& run, const std::string& query,
               const std::function<Status(std::string_view)>& out);

}  // namespace trainscope
