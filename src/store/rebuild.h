// A run whose manifest.json is missing, empty or ruined: what its segments know of it.
//
// Guarantees: nothing is invented: what the segments do not tell is empty, and a note says what is
// not known. Limits: how the job ended stood in the file alone.
#pragma once

#include "base/result.h"
#include "store/files.h"

namespace trainscope {

// Whether an Error of read_manifest is of a kind that the segments can make good: not of a newer
// format, and not a file that may not be read.
bool can_rebuild(const Error& problem);

// `files` has its segments; `problem` is what is wrong with the manifest, and the answer when the
// segments tell nothing.
Result<Manifest> rebuild_manifest(const RunFiles& files, const Error& problem);

}  // namespace trainscope
