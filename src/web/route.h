// Routes: one .cpp in routes/ that defines one constant `<stem>_route`. The build lists the folder
// and generates routes().
//
// Guarantees: a route is called only for requests that passed the gate (security.h), on a thread of
// the pool, several at once. An Error is answered with status 500 and its message, and so is an
// exception (no memory).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "web/answer.h"
#include "web/request.h"
#include "web/site.h"

namespace trainscope {

struct RouteRequest {
  const WebTarget& target;
  std::vector<std::string> parts;  // of the path, in the places of the pattern's stars
  Site& site;
};

struct Route {
  std::string_view pattern;  // "/api/run/*/columns"
  Result<WebAnswer> (*answer)(const RouteRequest& request) = nullptr;
  bool is_stream = false;  // of events: `answer` only finds out whether there is such a run
};

// All of them, sorted by file. Generated from the folder.
std::span<const Route* const> routes();

struct MatchedRoute {
  const Route* route = nullptr;    // null: there is no such page
  std::vector<std::string> parts;  // in the places of stars
};
MatchedRoute find_route(std::string_view path);
// What the route answers.
WebAnswer ask_route(const Route& route, const RouteRequest& request);

// The run that the first part of the path names, opened; or the refusal.
struct AskedRun {
  OpenedRuns::Run run;
  WebAnswer refused;  // if there is no run
};
AskedRun open_asked_run(const RouteRequest& request, OpenedRuns::Wanted wanted);
AskedRun open_run_by_id(Site& site, const std::string& id, OpenedRuns::Wanted wanted);

// A parameter that is a number within limits, or `otherwise` if it is not given; nothing if it is
// wrong.
std::optional<size_t> count_parameter(const WebTarget& target, const std::string& name,
                                      size_t least, size_t most, size_t otherwise);

// The id, and what changes in a manifest after the end: `edit` and the verdict.
std::string manifest_key(const Manifest& manifest);

// Computes a document of a run that has ended once.
template <typename Compute>
Result<WebAnswer> kept_answer(Site& site, const std::string& kind, const RunView& run,
                              const Compute& compute) {
  const std::string key = kind + " " + manifest_key(run.manifest());
  const bool is_final = run.status() == RunStatus::ended;
  WebAnswer answer;
  if (is_final) {
    if (auto known = site.documents.find(key)) {
      answer.body = std::move(*known);
      return answer;
    }
  }
  TS_TRY(answer.body, compute());
  if (is_final) site.documents.keep(key, answer.body);
  return answer;
}

}  // namespace trainscope
