// Fields of JSON that a stranger may have written: a wrong type is an absent field, never an
// exception.
#pragma once

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace trainscope {

using Json = nlohmann::json;

// The field, or a null value when `object` is no object or lacks it.
inline const Json& field(const Json& object, const char* key) {
  static const Json kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(key);
  return found == object.end() ? kNull : *found;
}

inline std::string text_field(const Json& object, const char* key) {
  const Json& value = field(object, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

inline std::optional<int64_t> integer(const Json& value) {
  if (value.is_number_unsigned() && value.get<uint64_t>() > uint64_t{INT64_MAX})
    return std::nullopt;
  if (!value.is_number_integer()) return std::nullopt;
  return value.get<int64_t>();
}

inline std::optional<int64_t> integer_field(const Json& object, const char* key) {
  return integer(field(object, key));
}

inline std::optional<double> number_field(const Json& object, const char* key) {
  const Json& value = field(object, key);
  if (!value.is_number() || !std::isfinite(value.get<double>())) return std::nullopt;
  return value.get<double>();
}

// Discarded (is_discarded()) when the text is not JSON.
inline Json parse_json(std::string_view text) { return Json::parse(text, nullptr, false); }

// Bytes that are not UTF-8 (a command's argument can be anything) become U+FFFD.
inline std::string dump_json(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace trainscope
