#include "export/support/header.h"

#include "base/json.h"
#include "export/support/series_filter.h"

namespace trainscope {

Json labels_json(const Labels& labels) {
  Json json = Json::object();
  for (const auto& [name, value] : labels) json[name] = value;
  return json;
}

Json header_of_run(const RunView& run) {
  const Manifest& m = run.manifest();
  return {{"schema", "trainscope.export/1"},
          {"run", {{"id", m.id}, {"name", m.name}, {"started", text_or_null(m.started)}}},
          {"duration_s", run.duration_s()},
          {"period_s", run.sampling().period_s}};
}

std::string samples_header_line(const RunView& run, const std::vector<size_t>& selected,
                                const ExportOptions& options) {
  Json list = Json::array();
  for (const size_t i : selected) {
    const Series series = exported_series(run.series_at(i), options);
    list.push_back({{"metric", series.metric},
                    {"labels", labels_json(series.labels)},
                    {"unit", series.unit},
                    {"kind", kind_name(series.kind)},
                    {"derived", series.derived}});
  }
  Json header = header_of_run(run);
  header["rates"] = options.rates;
  header["series"] = std::move(list);
  return dump_json(header) + "\n";
}

std::string sample_middle(const Series& series) {
  return ",\"metric\":" + dump_json(Json(series.metric)) +
         ",\"labels\":" + dump_json(labels_json(series.labels)) + ",\"value\":";
}

}  // namespace trainscope
