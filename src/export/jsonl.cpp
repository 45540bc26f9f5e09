// jsonl: one JSON object per line. The first is the header: schema trainscope.export/1, the run and
// its series; each further one is a sample with time_s, metric, labels and value, in order of time.
#include "base/json.h"
#include "export/export.h"
#include "export/support/selection.h"
#include "export/support/text.h"

namespace trainscope {

namespace {

Json labels_json(const Labels& labels) {
  Json json = Json::object();
  for (const auto& [name, value] : labels) json[name] = value;
  return json;
}

std::string header_line(const RunView& run, const std::vector<size_t>& selected) {
  const Manifest& m = run.manifest();
  Json series = Json::array();
  for (const size_t i : selected) {
    const Series& s = run.series_at(i);
    series.push_back({{"metric", s.metric},
                      {"labels", labels_json(s.labels)},
                      {"unit", s.unit},
                      {"kind", kind_name(s.kind)},
                      {"derived", s.derived}});
  }
  const Json header = {
      {"schema", "trainscope.export/1"},
      {"run", {{"id", m.id}, {"name", m.name}, {"started", text_or_null(m.started)}}},
      {"duration_s", run.duration_s()},
      {"period_s", run.sampling().period_s},
      {"series", std::move(series)}};
  return dump_json(header) + "\n";
}

Status write_jsonl(const RunView& run, const ExportOptions& options, const ExportSink& sink) {
  TS_TRY(const std::vector<size_t> selected, select_series(run, options.metrics));
  std::vector<std::string> middles;
  for (const size_t i : selected) {
    const Series& s = run.series_at(i);
    middles.push_back(",\"metric\":" + dump_json(Json(s.metric)) +
                      ",\"labels\":" + dump_json(labels_json(s.labels)) + ",\"value\":");
  }
  TextBuffer buffer(sink);
  buffer.text() = header_line(run, selected);
  TimeText time;
  TS_CHECK_OK(for_each_window(run, selected, options, [&](const Window& window) {
    return for_each_sample(window, [&](const SampleAt& at) {
      buffer.text() += "{\"time_s\":";
      buffer.text() += time.of(at.time_s);
      buffer.text() += middles[at.series];
      append_value(buffer.text(), window.series[at.series].value[at.sample]);
      buffer.text() += "}\n";
      return buffer.pass_on_when_full();
    });
  }));
  return buffer.pass_on();
}

}  // namespace

extern const Exporter jsonl_exporter;
const Exporter jsonl_exporter = {
    .name = "jsonl",
    .summary = "one JSON object per line: a header, then every sample",
    .extension = ".jsonl",
    .is_text = true,
    .has_wide = false,
    .write = write_jsonl,
};

}  // namespace trainscope
