#include "base/json.h"

#include <cmath>

namespace trainscope {

Json parse_json(std::string_view text) { return Json::parse(text, nullptr, false); }

std::string dump_json(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::string dump_json(const OrderedJson& json, int indent) {
  return json.dump(indent, ' ', false, OrderedJson::error_handler_t::replace);
}

Json text_or_null(std::string_view text) { return text.empty() ? Json(nullptr) : Json(text); }

const Json& field(const Json& object, const char* key) {
  static const Json kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(key);
  return found == object.end() ? kNull : *found;
}

std::string text_field(const Json& object, const char* key) {
  const Json& value = field(object, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

std::optional<int64_t> integer(const Json& value) {
  if (value.is_number_unsigned() && value.get<uint64_t>() > uint64_t{INT64_MAX})
    return std::nullopt;
  if (!value.is_number_integer()) return std::nullopt;
  return value.get<int64_t>();
}

std::optional<int64_t> integer_field(const Json& object, const char* key) {
  return integer(field(object, key));
}

std::optional<double> number_field(const Json& object, const char* key) {
  const Json& value = field(object, key);
  if (!value.is_number() || !std::isfinite(value.get<double>())) return std::nullopt;
  return value.get<double>();
}

}  // namespace trainscope
