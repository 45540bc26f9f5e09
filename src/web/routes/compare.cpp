// /api/compare?a=ID,ID&b=ID: what `compare A B --json --explain` prints.
#include "compare/compare.h"

#include "base/json.h"
#include "store/store.h"
#include "web/asked_run.h"

namespace trainscope::compare_route {

namespace {

constexpr size_t kMostRunsOfASide = 64;

struct AskedSide {
  std::vector<std::string> paths;
  std::optional<WebAnswer> refused;
};

AskedSide side_of(const RouteRequest& request, const std::string& name) {
  AskedSide side;
  const std::string* const text = request.target.find(name);
  const auto ids = text == nullptr ? Result<std::vector<std::string>>(Error("it is missing"))
                                   : parse_run_ids(*text, kMostRunsOfASide);
  if (!ids) {
    side.refused = refusal(400, "'" + name + "': " + ids.error().message());
    return side;
  }
  for (const std::string& id : *ids) {
    const auto path = request.site.runs.find(id);
    if (!path) {
      side.refused = refusal(404, "there is no run of the id " + id);
      return side;
    }
    side.paths.push_back(*path);
  }
  return side;
}

Result<WebAnswer> answer(const RouteRequest& request) {
  const AskedSide a = side_of(request, "a"), b = side_of(request, "b");
  for (const AskedSide* const side : {&a, &b}) {
    if (side->refused) return *side->refused;
  }
  TS_TRY(const Comparison comparison, compare_runs(a.paths, b.paths, {}, open_found_run));
  return json_answer(comparison_json(comparison, true));
}

}  // namespace

extern const Route entry;
const Route entry = {"/api/compare", answer};

}  // namespace trainscope::compare_route
