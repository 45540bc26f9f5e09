// /api/run/ID: what the manifest tells, without reading the run.
#include "base/json.h"
#include "store/store.h"
#include "web/asked_run.h"

namespace trainscope::run_route {

namespace {

Result<WebAnswer> answer(const RouteRequest& request) {
  const std::string& id = request.parts.front();
  const auto path = is_run_id_text(id) ? request.site.runs.find(id) : std::nullopt;
  if (!path) return refusal(404, "there is no run of this id");
  return json_answer(run_head_json(list_run(*path)));
}

}  // namespace

extern const Route entry;
const Route entry = {"/api/run/*", answer};

}  // namespace trainscope::run_route
