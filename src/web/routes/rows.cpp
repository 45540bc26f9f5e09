// /api/rows?runs=ID,ID: what the visible rows of the table show besides.
#include "base/json.h"
#include "store/store.h"
#include "web/asked_run.h"

namespace trainscope::rows_route {

namespace {

constexpr size_t kMostRows = 64;

// A run that cannot be read has a row without numbers.
Json empty_row(const std::string& id) {
  return {{"id", id},        {"duration_s", nullptr},  {"steps", nullptr}, {"steps_per_s", nullptr},
          {"loss", nullptr}, {"name_of_loss", nullptr}};
}

// The runs of a table are read one after the other and not kept open. "" if it cannot be read.
std::string read_row(Site& site, const std::string& key, const std::string& path) {
  const auto run = open_run(path, Footprint::small);
  if (!run) return "";
  const auto row = row_json(**run);
  if (!row) return "";
  std::string text = dump_json(*row);
  if ((*run)->status() == RunStatus::ended) site.documents.keep(key, text);
  return text;
}

Json row_of(Site& site, const std::string& id) {
  const auto path = site.runs.find(id);
  if (!path) return empty_row(id);
  const std::string key = "row " + id;
  if (const auto known = site.documents.find(key)) return parse_json(*known);
  const auto read = [&] { return read_row(site, key, *path); };
  std::string text;
  // A run that has just ended is read at once: the page asks for that row only once.
  if (list_run(*path).status == RunStatus::running) {
    text = site.running_rows.row(id, read);
  } else {
    site.running_rows.forget(id);
    text = read();
  }
  return text.empty() ? empty_row(id) : parse_json(text);
}

Result<WebAnswer> answer(const RouteRequest& request) {
  const std::string* const runs = request.target.find("runs");
  if (runs == nullptr) return refusal(400, "the parameter 'runs' is missing");
  const auto ids = parse_run_ids(*runs, kMostRows);
  if (!ids) return refusal(400, "'runs': " + ids.error().message());
  Json rows = Json::array();
  for (const std::string& id : *ids) rows.push_back(row_of(request.site, id));
  return json_answer({{"rows", std::move(rows)}});
}

}  // namespace

extern const Route entry;
const Route entry = {"/api/rows", answer};

}  // namespace trainscope::rows_route
