// /api/run/ID/files: the files that the run kept (`run --keep`).
#include "base/json.h"
#include "web/asked_run.h"

namespace trainscope::files_route {

namespace {

Result<WebAnswer> answer(const RouteRequest& request) {
  const AskedRun asked = open_asked_run(request, OpenedRuns::Wanted::samples);
  if (asked.run == nullptr) return asked.refused;
  return json_answer({{"files", files_json(*asked.run)}});
}

}  // namespace

extern const Route entry;
const Route entry = {"/api/run/*/files", answer};

}  // namespace trainscope::files_route
