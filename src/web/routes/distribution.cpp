// /api/compare/distribution?runs=ID,ID: quantiles of the step times of each run.
#include "base/json.h"
#include "web/asked_run.h"

namespace trainscope::distribution_route {

namespace {

constexpr size_t kMostDistributions = 64;

Json distribution_of(Site& site, const std::string& id) {
  const AskedRun asked = open_run_by_id(site, id, OpenedRuns::Wanted::samples);
  if (asked.run == nullptr) {
    return {{"id", id}, {"reason", text_field(parse_json(asked.refused.body), "error")}};
  }
  auto document = distribution_json(*asked.run);
  if (!document) return {{"id", id}, {"reason", document.error().message()}};
  return std::move(*document);
}

Result<WebAnswer> answer(const RouteRequest& request) {
  const std::string* const runs = request.target.find("runs");
  if (runs == nullptr) return refusal(400, "the parameter 'runs' is missing");
  const auto ids = parse_run_ids(*runs, kMostDistributions);
  if (!ids) return refusal(400, "'runs': " + ids.error().message());
  Json list = Json::array();
  for (const std::string& id : *ids) list.push_back(distribution_of(request.site, id));
  return json_answer({{"runs", std::move(list)}});
}

}  // namespace

extern const Route entry;
const Route entry = {"/api/compare/distribution", answer};

}  // namespace trainscope::distribution_route
