#include "format/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/json.h"

namespace trainscope {

namespace {

Error bad(const std::string& what) { return Error("malformed schema: " + what); }

Result<StoredColumn> parse_column(const Json& json) {
  StoredColumn column;
  column.metric = text_field(json, "metric");
  if (column.metric.empty()) return bad("a column without a metric");
  column.labels = labels_from_json(field(json, "labels"));
  column.unit = text_field(json, "unit");
  const auto kind = kind_from_name(text_field(json, "kind"));
  if (!kind) return bad("kind of " + column.metric);
  column.kind = *kind;
  const std::string type = text_field(json, "type");
  if (type != "i64" && type != "f64") return bad("type of " + column.metric);
  column.is_double = type == "f64";
  const Json& scale = field(json, "scale");
  if (!scale.is_array() || scale.size() != 2) return bad("scale of " + column.metric);
  const auto numerator = integer(scale[0]), denominator = integer(scale[1]);
  if (!numerator || !denominator || *numerator <= 0 || *denominator <= 0) {
    return bad("scale of " + column.metric);
  }
  column.scale = {*numerator, *denominator};
  return column;
}

StoredMissing parse_missing(const Json& json) {
  return {text_field(json, "metric"), text_field(json, "unit"), text_field(json, "reason"),
          text_field(json, "remedy"),
          kind_from_name(text_field(json, "kind")).value_or(Kind::gauge)};
}

}  // namespace

std::optional<double> StoredColumn::value(int64_t raw) const {
  if (raw == kAbsent) return std::nullopt;
  if (!is_double) return scale.apply(raw);
  const auto number = std::bit_cast<double>(raw);
  if (!std::isfinite(number)) return std::nullopt;
  return number;
}

void StoredSchema::add(StoredColumn column) {
  totals.push_back(totals_of(column.kind, column.is_double));
  columns.push_back(std::move(column));
}

std::string schema_json(const StoredSchema& schema) {
  Json columns = Json::array();
  for (const StoredColumn& column : schema.columns) {
    Json labels = Json::object();
    for (const auto& [name, value] : column.labels) labels[name] = value;
    columns.push_back({{"metric", column.metric},
                       {"labels", labels},
                       {"unit", column.unit},
                       {"kind", kind_name(column.kind)},
                       {"scale", {column.scale.numerator, column.scale.denominator}},
                       {"type", column.is_double ? "f64" : "i64"}});
  }
  Json missing = Json::array();
  for (const StoredMissing& each : schema.missing) {
    missing.push_back({{"metric", each.metric},
                       {"unit", each.unit},
                       {"kind", kind_name(each.kind)},
                       {"reason", each.reason},
                       {"remedy", each.remedy}});
  }
  // Names of sensors and mounts may hold any bytes.
  return dump_json(Json{{"schema", schema.number},
                        {"stream", schema.stream},
                        {"period_ns", schema.period_ns},
                        {"source", schema.source},
                        {"columns", columns},
                        {"missing", missing}});
}

Labels labels_from_json(const Json& json) {
  Labels labels;
  if (json.is_string()) labels = labels_from_text(json.get<std::string>());
  if (json.is_object()) {
    for (const auto& [name, value] : json.items()) {
      if (value.is_string()) labels.emplace_back(name, value.get<std::string>());
    }
  }
  std::sort(labels.begin(), labels.end());
  return labels;
}

Result<StoredSchema> parse_schema(std::string_view payload) {
  const Json json = parse_json(payload);
  const auto number = integer_field(json, "schema"), stream = integer_field(json, "stream"),
             period = integer_field(json, "period_ns");
  if (!number || *number < 0 || !stream || *stream < 0) return bad("its number or stream");
  if (!period || *period <= 0 || *period > kMaxPeriodNs) return bad("its period_ns");
  StoredSchema schema;
  schema.number = static_cast<uint64_t>(*number);
  schema.stream = static_cast<uint64_t>(*stream);
  schema.period_ns = *period;
  schema.source = text_field(json, "source");
  const Json& columns = field(json, "columns");
  if (!columns.is_array() || columns.size() > kMaxColumns) return bad("its columns");
  for (const Json& item : columns) {
    TS_TRY(StoredColumn column, parse_column(item));
    schema.add(std::move(column));
  }
  if (const Json& missing = field(json, "missing"); missing.is_array()) {
    for (const Json& item : missing) {
      StoredMissing parsed = parse_missing(item);
      if (!parsed.metric.empty()) schema.missing.push_back(std::move(parsed));
    }
  }
  return schema;
}

}  // namespace trainscope
