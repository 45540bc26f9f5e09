// /api/runs: what `list --json` prints.
#include "base/json.h"
#include "store/store.h"
#include "web/asked_run.h"

namespace trainscope::runs_route {

namespace {

Result<WebAnswer> answer(const RouteRequest& request) {
  TS_TRY(const std::vector<RunListing> runs, list_runs(request.site.home));
  return json_answer(list_document(runs));
}

}  // namespace

extern const Route entry;
const Route entry = {"/api/runs", answer};

}  // namespace trainscope::runs_route
