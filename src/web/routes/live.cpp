// /api/run/ID/live: events of a run that is being recorded (live.h).
#include "web/asked_run.h"

namespace trainscope::live_route {

namespace {

Result<WebAnswer> answer(const RouteRequest& request) {
  const std::string& id = request.parts.front();
  const bool is_there = is_run_id_text(id) && request.site.runs.find(id).has_value();
  if (!is_there) return refusal(404, "there is no run of this id");
  return WebAnswer{200, "text/event-stream", "", {}};
}

}  // namespace

extern const Route entry;
const Route entry = {"/api/run/*/live", answer, true};

}  // namespace trainscope::live_route
