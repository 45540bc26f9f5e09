// Making what was written outlast a power loss.
//
// Guarantees: after a success the bytes, or the names in a folder, are on the disk as far as the
// kernel reports. A file system that cannot sync (some of FUSE) counts as a success. Limits: a call
// may take as long as the disk does, so it must never delay the job.
#pragma once

#include <string>

#include "base/result.h"

namespace trainscope {

// The bytes of an open file. After an Error the file must not be synced again: the kernel forgets
// the failure and would report success for bytes that are lost.
Status sync_data(int fd, const std::string& path);
Status sync_file(const std::string& path);
Status sync_folder(const std::string& path);

// All of a run that has ended: segments, manifest, their names. If `is_sealed`, the segments
// contain everything that `tail` has, and it is removed once they are synced.
Status settle_run(const std::string& run_path, bool is_sealed);

}  // namespace trainscope
