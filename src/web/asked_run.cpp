#include "web/asked_run.h"

#include "base/json.h"

namespace trainscope {

AskedRun open_run_by_id(Site& site, const std::string& id, OpenedRuns::Wanted wanted) {
  const auto path = is_run_id_text(id) ? site.runs.find(id) : std::nullopt;
  if (!path) return {nullptr, refusal(404, "there is no run of this id")};
  auto run = site.runs.open(id, *path, wanted);
  if (!run) return {nullptr, refusal(500, "the run cannot be read: " + run.error().message())};
  return {std::move(*run), {}};
}

AskedRun open_asked_run(const RouteRequest& request, OpenedRuns::Wanted wanted) {
  return open_run_by_id(request.site, request.parts.front(), wanted);
}

std::string manifest_key(const Manifest& manifest) {
  const std::string verdict = manifest.verdict ? manifest.verdict->verdict : "";
  const Json key = {manifest.id, manifest.name, manifest.note, tags_json(manifest), verdict};
  return dump_json(key);
}

}  // namespace trainscope
