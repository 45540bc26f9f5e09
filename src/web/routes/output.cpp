// /api/run/ID/output?at=S&lines=N: lines of the job's output around a time.
#include "base/json.h"
#include "web/asked_run.h"

namespace trainscope::output_route {

namespace {

constexpr size_t kMostLines = 1000, kUsualLines = 200;

Result<WebAnswer> answer(const RouteRequest& request) {
  const auto lines = count_parameter(request.target, "lines", 1, kMostLines, kUsualLines);
  if (!lines) return refusal(400, "'lines' must be from 1 to 1000");
  std::optional<double> at_s;
  if (const std::string* const at = request.target.find("at"); at != nullptr && !at->empty()) {
    at_s = parse_query_number(*at);
    if (!at_s) return refusal(400, "'at' must be seconds");
  }
  const AskedRun asked = open_asked_run(request, OpenedRuns::Wanted::reports);
  if (asked.run == nullptr) return asked.refused;
  TS_TRY(const auto index, request.site.runs.output(request.parts.front(), asked.run));
  TS_TRY(const Json document, index->lines(at_s, *lines));
  return json_answer(document);
}

}  // namespace

extern const Route entry;
const Route entry = {"/api/run/*/output", answer};

}  // namespace trainscope::output_route
