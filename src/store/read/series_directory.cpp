#include "store/read/series_directory.h"

#include <algorithm>
#include <map>
#include <set>

namespace trainscope {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view take_digits(std::string_view& text) {
  size_t zeros = 0;
  while (zeros + 1 < text.size() && text[zeros] == '0' && is_digit(text[zeros + 1])) ++zeros;
  text.remove_prefix(zeros);
  size_t n = 0;
  while (n < text.size() && is_digit(text[n])) ++n;
  const std::string_view digits = text.substr(0, n);
  text.remove_prefix(n);
  return digits;
}

// Below 0, 0 or above 0.
int natural_compare(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    if (is_digit(a[0]) && is_digit(b[0])) {
      const std::string_view x = take_digits(a), y = take_digits(b);
      if (x.size() != y.size()) return x.size() < y.size() ? -1 : 1;
      if (const int order = x.compare(y); order != 0) return order;
      continue;
    }
    if (a[0] != b[0]) return a[0] < b[0] ? -1 : 1;
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  return a.empty() ? (b.empty() ? 0 : -1) : 1;
}

// Unlike labels_text, never the same for different labels: a value may contain ; and =.
std::string key_of(const std::string& metric, const Labels& labels) {
  std::string key = metric;
  for (const auto& [name, value] : labels) {
    for (const std::string& part : {name, value}) {
      key += '\n' + std::to_string(part.size()) + ':' + part;
    }
  }
  return key;
}

// The schema of each source that held at the end: the last one that has rows.
std::set<const StoredSchema*> current_schemas(const RunIndex& index) {
  std::map<std::pair<uint64_t, std::string>, const StoredSchema*> current;
  for (const auto& [number, stream] : index.streams) {
    for (const StoredBlock& block : stream.blocks) {
      if (block.is_empty()) continue;
      for (const ColumnsFrame& frame : block.columns) {
        current[{frame.schema->stream, frame.schema->source}] = frame.schema;
      }
    }
  }
  std::set<const StoredSchema*> schemas;
  for (const auto& [key, schema] : current) schemas.insert(schema);
  return schemas;
}

// A series that the last schema of its source no longer has.
void set_stale(StoredSeries& series, const std::set<const StoredSchema*>& current) {
  bool replaced = false;
  for (const SeriesPart& part : series.parts) {
    if (current.contains(part.schema)) return;
    for (const StoredSchema* other : current) {
      replaced = replaced ||
                 (other->source == part.schema->source && other->stream == part.schema->stream);
    }
  }
  if (!replaced) return;
  series.series.status = SeriesStatus::stale;
  series.series.reason = "it disappeared before the run ended";
}

// "a; b": the reasons of all sources, each once.
void append_once(std::string& text, const std::string& more) {
  if (more.empty() || text.find(more) != std::string::npos) return;
  text += (text.empty() ? "" : "; ") + more;
}

std::vector<Series> list_absent(const RunIndex& index, const std::vector<StoredSeries>& stored) {
  std::set<std::string> have;
  for (const StoredSeries& series : stored) have.insert(series.series.metric);
  // By metric and source: a later schema of a source replaces the reason.
  std::map<std::string, std::map<std::string, Series>> absent;
  for (const auto& [number, schema] : index.schemas) {
    for (const StoredMissing& missing : schema.missing) {
      if (have.contains(missing.metric)) continue;
      const std::string reason = missing.reason.empty() ? "no reason was recorded" : missing.reason;
      absent[missing.metric][schema.source] = {
          missing.metric,       {},     missing.unit,  missing.kind, false,
          SeriesStatus::absent, reason, missing.remedy};
    }
  }
  std::vector<Series> list;
  for (const auto& [metric, by_source] : absent) {
    list.push_back(by_source.begin()->second);
    for (const auto& [source, series] : by_source) {
      append_once(list.back().reason, series.reason);
      append_once(list.back().remedy, series.remedy);
    }
  }
  return list;
}

}  // namespace

const ColumnsFrame* StoredSeries::find(const StoredBlock& block, const StoredColumn*& column,
                                       size_t& at) const {
  for (const ColumnsFrame& frame : block.columns) {
    const auto part = std::lower_bound(
        parts.begin(), parts.end(), frame.schema->number,
        [](const SeriesPart& a, uint64_t number) { return a.schema->number < number; });
    if (part == parts.end() || part->schema != frame.schema) continue;
    column = &part->schema->columns[part->column];
    at = part->column;
    return &frame;
  }
  return nullptr;
}

std::vector<size_t> order_of_series(const std::vector<const Series*>& series) {
  std::vector<std::string> labels;
  std::vector<size_t> order;
  for (const Series* each : series) {
    order.push_back(order.size());
    labels.push_back(labels_text(each->labels));
  }
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    if (series[a]->metric != series[b]->metric) return series[a]->metric < series[b]->metric;
    return natural_compare(labels[a], labels[b]) < 0;
  });
  return order;
}

SeriesDirectory list_series(const RunIndex& index) {
  SeriesDirectory directory;
  std::map<std::string, size_t> places;
  for (const auto& [number, schema] : index.schemas) {
    const double period_s = static_cast<double>(index.streams.at(schema.stream).period_ns) / 1e9;
    for (size_t c = 0; c < schema.columns.size(); ++c) {
      const StoredColumn& column = schema.columns[c];
      const auto [place, added] =
          places.emplace(key_of(column.metric, column.labels), directory.stored.size());
      if (added) {
        directory.stored.emplace_back();
        directory.stored.back().series = {column.metric, column.labels,    column.unit, column.kind,
                                          false,         SeriesStatus::ok, "",          ""};
      }
      StoredSeries& series = directory.stored[place->second];
      series.series.period_s = std::max(series.series.period_s, period_s);
      if (!series.parts.empty() && series.parts.back().schema == &schema) continue;
      series.parts.push_back({&schema, c});
      if (std::find(series.streams.begin(), series.streams.end(), schema.stream) ==
          series.streams.end()) {
        series.streams.push_back(schema.stream);
      }
    }
  }
  const auto current = current_schemas(index);
  for (StoredSeries& series : directory.stored) set_stale(series, current);
  directory.absent = list_absent(index, directory.stored);
  sort_by_series(directory.stored);
  return directory;
}

}  // namespace trainscope
