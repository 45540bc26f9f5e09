// /api/runs: what `list --json` prints.
#include "base/crc32c.h"
#include "web/asked_run.h"

namespace trainscope::runs_route {

namespace {

Result<WebAnswer> answer(const RouteRequest& request) {
  WebAnswer answer;
  TS_TRY(answer.body, request.site.list.document());
  const std::string size = std::to_string(answer.body.size());
  answer.headers.emplace_back("ETag",
                              "\"" + std::to_string(crc32c(answer.body)) + "-" + size + "\"");
  return answer;
}

}  // namespace

extern const Route entry;
const Route entry = {"/api/runs", answer};

}  // namespace trainscope::runs_route
