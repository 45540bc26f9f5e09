#include "store/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

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

Totals totals_of(const StoredColumn& column) {
  if (column.is_double) return Totals::none;
  return column.kind == Kind::counter ? Totals::increases : Totals::sum;
}

}  // namespace

std::optional<double> StoredColumn::value(int64_t raw) const {
  if (raw == kNoValue) return std::nullopt;
  if (!is_double) return scale.apply(raw);
  const auto number = std::bit_cast<double>(raw);
  if (!std::isfinite(number)) return std::nullopt;
  return number;
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
    schema.totals.push_back(totals_of(column));
    schema.columns.push_back(std::move(column));
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
