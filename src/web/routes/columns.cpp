// /api/run/ID/columns?series=3,4&from=S&to=S&points=N&smooth=S&weights=1: series over time, as
// binary columns.
#include "web/asked_run.h"

namespace trainscope::columns_route {

namespace {

constexpr size_t kUsualPoints = 1000;

// A number that may be left out; false if it is wrong.
bool take_number(const WebTarget& target, const std::string& name, std::optional<double>& number) {
  const std::string* const text = target.find(name);
  if (text == nullptr || text->empty()) return true;
  number = parse_query_number(*text);
  return number.has_value();
}

Result<ColumnsQuery> parse_columns_query(const WebTarget& target) {
  ColumnsQuery query;
  const std::string* const series = target.find("series");
  if (series == nullptr) return Error("the parameter 'series' is missing");
  TS_TRY(query.series, parse_query_counts(*series, kMostColumns).with_context("'series'"));
  if (!take_number(target, "from", query.from_s) || !take_number(target, "to", query.to_s)) {
    return Error("'from' and 'to' must be seconds");
  }
  std::optional<double> smooth_s;
  if (!take_number(target, "smooth", smooth_s)) return Error("'smooth' must be seconds");
  query.smooth_s = smooth_s.value_or(0);
  const std::string* const weights = target.find("weights");
  query.has_weights = weights != nullptr && *weights == "1";
  const auto points = count_parameter(target, "points", kFewestPoints, kMostPoints, kUsualPoints);
  query.points = points.value_or(0);  // checked with the run
  return query;
}

// Numbers that the job reported are not in a run that is followed.
OpenedRuns::Wanted wanted_for(const RunView& run, const ColumnsQuery& query) {
  for (const size_t series : query.series) {
    if (series >= run.recorded_series().size()) return OpenedRuns::Wanted::reports;
  }
  return OpenedRuns::Wanted::samples;
}

Result<WebAnswer> answer(const RouteRequest& request) {
  const auto query = parse_columns_query(request.target);
  if (!query) return refusal(400, query.error().message());
  AskedRun asked = open_asked_run(request, OpenedRuns::Wanted::samples);
  if (asked.run == nullptr) return asked.refused;
  const OpenedRuns::Wanted wanted = wanted_for(*asked.run, *query);
  if (wanted == OpenedRuns::Wanted::reports) asked = open_asked_run(request, wanted);
  if (asked.run == nullptr) return asked.refused;
  if (const Status checked = check_columns_query(*asked.run, *query); !checked) {
    return refusal(400, checked.error().message());
  }
  WebAnswer columns;
  columns.type = "application/octet-stream";
  TS_TRY(columns.body, columns_document(*asked.run, *query, request.site.overviews));
  return columns;
}

}  // namespace

extern const Route entry;
const Route entry = {"/api/run/*/columns", answer};

}  // namespace trainscope::columns_route
