// A run whose manifest.json is missing, empty or damaged: what its segments contain of it.
//
// Guarantees: nothing is invented: a field that the segments lack is empty, and a note states what
// is unknown. Limits: only the file had the outcome of the job.
#pragma once

#include "base/result.h"
#include "store/read/files.h"

namespace trainscope {

// True if the segments can replace what read_manifest could not read: not a manifest of a newer
// format, and not one without permission.
bool can_rebuild(const Error& problem);

// `files` has its segments; `problem` is the fault of the manifest, and is returned if the
// segments have no copy.
Result<Manifest> rebuild_manifest(const RunFiles& files, const Error& problem);

}  // namespace trainscope
