// The document of `info --json` (schema trainscope.info/1), which scripts rely on.
#pragma once

#include "base/json_fwd.h"
#include "base/result.h"
#include "model/finding.h"
#include "model/model.h"

namespace trainscope {

// Every key is always present; unknown values are null, and so are `events` unless they are asked
// for: a job may report millions of marks.
Result<Json> info_json(const RunView& run, bool has_events = false);

// Parts that `list --json` has as well.
Json tags_json(const Manifest& manifest);
// {job, rank, world_size, restart}; null outside a launcher.
Json group_json(const Manifest& manifest);
// {group, index, count}; null unless it is one of several repeats.
Json repeat_json(const Manifest& manifest);

// Parts that `diagnose --json` has as well.
Json breakdown_json(const std::vector<BreakdownPart>& parts);
Json finding_json(const Finding& finding);

}  // namespace trainscope
