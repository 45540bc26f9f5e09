// /api/run/ID/info: what `info ID --json` prints.
#include "base/json.h"
#include "web/asked_run.h"

namespace trainscope::info_route {

namespace {

Result<WebAnswer> answer(const RouteRequest& request) {
  const AskedRun asked = open_asked_run(request, OpenedRuns::Wanted::reports);
  if (asked.run == nullptr) return asked.refused;
  return kept_answer(request.site, "info", *asked.run, [&]() -> Result<std::string> {
    TS_TRY(const Json document, info_json(*asked.run));
    return dump_json(document);
  });
}

}  // namespace

extern const Route entry;
const Route entry = {"/api/run/*/info", answer};

}  // namespace trainscope::info_route
