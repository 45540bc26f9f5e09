// /api/run/ID/steps?points=N: the number of steps over time, for a step axis.
#include "web/asked_run.h"

namespace trainscope::steps_route {

namespace {

constexpr size_t kUsualSteps = 2000;

Result<WebAnswer> answer(const RouteRequest& request) {
  const auto points =
      count_parameter(request.target, "points", kFewestPoints, kMostPoints, kUsualSteps);
  if (!points) return refusal(400, "'points' must be from 2 to 4000");
  const AskedRun asked = open_asked_run(request, OpenedRuns::Wanted::samples);
  if (asked.run == nullptr) return asked.refused;
  WebAnswer columns;
  columns.type = "application/octet-stream";
  TS_TRY(columns.body, steps_columns(*asked.run, *points));
  return columns;
}

}  // namespace

extern const Route entry;
const Route entry = {"/api/run/*/steps", answer};

}  // namespace trainscope::steps_route
