// /api/run/ID/marks: what happened when.
#include "base/json.h"
#include "web/asked_run.h"

namespace trainscope::marks_route {

namespace {

Result<WebAnswer> answer(const RouteRequest& request) {
  const AskedRun asked = open_asked_run(request, OpenedRuns::Wanted::reports);
  if (asked.run == nullptr) return asked.refused;
  return kept_answer(request.site, "marks", *asked.run, [&]() -> Result<std::string> {
    TS_TRY(const Json document, marks_json(*asked.run));
    return dump_json(document);
  });
}

}  // namespace

extern const Route entry;
const Route entry = {"/api/run/*/marks", answer};

}  // namespace trainscope::marks_route
