// Groups: ranks that a launcher started together, and repeats of one command.
//
// Guarantees: a pure function of manifests; a run of an earlier version, or an imported one, is in
// no group. Limits: launchers use ids again (torchrun's --rdzv-id, Open MPI after a while), and a
// script may record several commands in one rank, so the n-th run of each rank belongs to the n-th
// group of a job; after a day without a start, counting begins again. If a rank was not recorded
// once and the id is used again within a day, later runs of that rank are in the wrong group.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "model/manifest.h"

namespace trainscope {

struct RunListing;

// Launchers may use an id again after this time without a start.
inline constexpr int64_t kIdReuseNs = 24 * 3600 * kNsPerSecond;

enum class GroupKind { ranks, repeats };

struct RunGroup {
  // A RUN argument that means it: "slurm-4711.0", "repeat-6a2s039jer". The same job before is
  // "slurm-4711.0~1".
  std::string id;
  GroupKind kind = GroupKind::ranks;
  int64_t size = 0;                // ranks or repeats that there should be
  std::vector<std::string> paths;  // of its runs, by rank or repeat
};

// The groups of a home, by their first runs. `runs` are all of its runs, oldest first. A run may be
// in two groups: rank 0 of a job, and its first repeat.
std::vector<RunGroup> group_runs(const std::vector<RunListing>& runs);

// The group that a RUN argument means: an id, a unique prefix of one, or one of these with ~1.
// Nothing if none matches; an Error if several do.
Result<std::optional<RunGroup>> find_group(const std::vector<RunGroup>& groups,
                                           std::string_view text);

// Were both recorded on the same machine, perhaps in different containers of it?
bool is_same_machine(const Manifest& a, const Manifest& b);

}  // namespace trainscope
