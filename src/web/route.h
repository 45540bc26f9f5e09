// Routes: one .cpp in routes/ that defines one constant `<stem>_route`. The build lists the folder
// and generates routes().
//
// Guarantees: a route is called only for requests that passed the gate (security.h), on a thread of
// the pool, several at once. An Error is answered with status 500 and its message, and so is an
// exception (no memory).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "web/answer.h"
#include "web/request.h"

namespace trainscope {

// What routes answer from. Who passes it on need not know what is in it (site.h): the server is
// compiled with Boost.Beast, which takes long enough.
struct Site;
std::shared_ptr<Site> make_site(std::string home, std::map<std::string, std::string> named_runs);

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

// A parameter that is a number within limits, or `otherwise` if it is not given; nothing if it is
// wrong.
std::optional<size_t> count_parameter(const WebTarget& target, const std::string& name,
                                      size_t least, size_t most, size_t otherwise);

}  // namespace trainscope
