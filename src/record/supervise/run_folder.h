// Files that are written before the job starts, on file systems that may hang.
//
// Guarantees: each function returns in time, because a child process does the writing.
#pragma once

#include <string>

#include "base/result.h"
#include "model/manifest.h"
#include "store/store.h"

namespace trainscope {

struct RunFolder {
  NewRun run;
  Status progress_pipe;  // some file systems have no FIFOs
};
// A folder for the run with its first manifest, which proves that it can be written before anything
// is started, and the FIFO for progress. The manifest gets the run's id, which also
// names the group of repeats if this is the first of them, and a copy of the host's limits.
Result<RunFolder> make_run_folder(const std::string& home, Manifest& manifest);
// Whether make_run_folder() failed because the home is full, read-only, forbidden, or does not
// respond: the job runs without a record then. Any other failure is a wrong setting.
bool is_unwritable_home(const Error& error);
// A file that only takes space, which the manifest needs at the end on a disk that is full by then.
std::string reserve_path(const std::string& run_path);
// The path of the FIFO.
std::string progress_path(const NewRun& run);

// The Python modules of --instrument, below the run's folder; `lease` of a probe, or "".
Status add_instrument_files(const NewRun& run, const std::string& lease);

// --id-file: a file is replaced, so that a reader never sees half an id, whichever of many ranks
// writes it last; a pipe or device is written to.
Status write_id_file(const std::string& path, const std::string& id);

}  // namespace trainscope
