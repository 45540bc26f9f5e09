// /api/run/ID/diagnosis: what `diagnose ID --json` prints, and its sentences.
#include "base/json.h"
#include "web/route.h"

namespace trainscope {

namespace {

Result<WebAnswer> answer(const RouteRequest& request) {
  const AskedRun asked = open_asked_run(request, OpenedRuns::Wanted::samples);
  if (asked.run == nullptr) return asked.refused;
  return kept_answer(request.site, "diagnosis", *asked.run, [&]() -> Result<std::string> {
    TS_TRY(const DiagnosedRun diagnosed, diagnose_stored_run(asked.run->path()));
    Json document = diagnosed_run_json(diagnosed, false);
    document["sentence"] = text_or_null(diagnosed.diagnosis.sentence);
    document["headline"] = diagnosis_headline(diagnosed.diagnosis);
    return dump_json(document);
  });
}

}  // namespace

extern const Route diagnosis_route;
const Route diagnosis_route = {"/api/run/*/diagnosis", answer};

}  // namespace trainscope
