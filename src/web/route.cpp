#include "web/route.h"

#include <exception>

#include "base/text.h"
#include "web/site.h"

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

std::shared_ptr<Site> make_site(std::string home, std::map<std::string, std::string> named_runs) {
  return std::make_shared<Site>(std::move(home), std::move(named_runs));
}

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

std::optional<size_t> count_parameter(const WebTarget& target, const std::string& name,
                                      size_t least, size_t most, size_t otherwise) {
  const std::string* const text = target.find(name);
  if (text == nullptr) return otherwise;
  const auto count = parse_query_count(*text);
  return count && *count >= least && *count <= most ? count : std::nullopt;
}

}  // namespace trainscope
