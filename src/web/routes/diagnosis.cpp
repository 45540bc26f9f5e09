// /api/run/ID/diagnosis: what `diagnose ID --json` prints, and its sentences.
#include "base/json.h"
#include "web/asked_run.h"

namespace trainscope::diagnosis_route {

namespace {

Result<WebAnswer> answer(const RouteRequest& request) {
  const AskedRun asked = open_asked_run(request, OpenedRuns::Wanted::samples);
  if (asked.run == nullptr) return asked.refused;
  return kept_answer(request.site, "diagnosis", *asked.run, [&]() -> Result<std::string> {
    TS_TRY(const DiagnosedRun diagnosed, diagnose_stored_run(asked.run->path(), Footprint::small));
    return dump_json(shown_diagnosis_json(diagnosed));
  });
}

}  // namespace

extern const Route entry;
const Route entry = {"/api/run/*/diagnosis", answer};

}  // namespace trainscope::diagnosis_route
