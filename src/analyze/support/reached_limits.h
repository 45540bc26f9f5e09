// How far a run came to what its machine gives at most, as `doctor --measure` found it.
//
// Guarantees: limits of another kind of machine are left out. A limit of storage counts only if it
// was measured where the job read: on the only disk that served most of what the job read, or, if
// that device was not recorded, on the file system of the working directory. Limits of random reads
// count only if the disk served small requests. What was not recorded or not measured is absent.
// Limits: reads of a file system without a disk include those that the page cache served.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/support/evidence.h"
#include "base/result.h"
#include "model/finding.h"
#include "model/limits.h"
#include "model/model.h"

namespace trainscope {

Result<std::vector<ReachedLimit>> reached_limits(const RunView& run, const Evidence& evidence,
                                                 const MachineLimits& limits);

// "of the 1.81 GiB/s that this disk gives", and the same of copies to the GPU; nothing if it is
// unknown.
std::optional<std::string> disk_limit_text(const Evidence& evidence);
std::optional<std::string> copy_limit_text(const Evidence& evidence);
// Adds a line for each limit whose name begins so.
void add_limit_evidence(const Evidence& evidence, std::string_view prefix, Finding& finding);

}  // namespace trainscope
