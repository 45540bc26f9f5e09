#include "web/route.h"

#include <exception>

#include "base/json.h"
#include "base/text.h"

namespace trainscope {

namespace {

bool matches(std::string_view pattern, std::string_view path, std::vector<std::string>& parts) {
  const auto wanted = split(pattern, '/'), given = split(path, '/');
  if (wanted.size() != given.size()) return false;
  parts.clear();
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] == "*") {
      if (given[i].empty()) return false;
      parts.emplace_back(given[i]);
    } else if (wanted[i] != given[i]) {
      return false;
    }
  }
  return true;
}

}  // namespace

MatchedRoute find_route(std::string_view path) {
  MatchedRoute matched;
  for (const Route* const route : routes()) {
    if (!matches(route->pattern, path, matched.parts)) continue;
    matched.route = route;
    return matched;
  }
  matched.parts.clear();
  return matched;
}

WebAnswer ask_route(const Route& route, const RouteRequest& request) {
  try {
    auto answered = route.answer(request);
    return answered ? std::move(*answered) : refusal(500, answered.error().message());
  } catch (const std::exception& exception) {
    return refusal(500, std::string("this cannot be answered: ") + exception.what());
  }
}

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

std::optional<size_t> count_parameter(const WebTarget& target, const std::string& name,
                                      size_t least, size_t most, size_t otherwise) {
  const std::string* const text = target.find(name);
  if (text == nullptr) return otherwise;
  const auto count = parse_query_count(*text);
  return count && *count >= least && *count <= most ? count : std::nullopt;
}

}  // namespace trainscope
