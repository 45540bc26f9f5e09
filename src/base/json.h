// JSON, and fields of untrusted JSON: a wrong type is an absent field, never an exception. Reading
// and writing are compiled once, here: they would add a second of compile time to each file.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/json_fwd.h"

namespace trainscope {

// Discarded (is_discarded()) when the text is not JSON.
Json parse_json(std::string_view text);

// On one line unless an indent is given. Bytes that are not UTF-8 (a command's argument can be
// anything) become U+FFFD.
std::string dump_json(const Json& json, int indent = -1);
std::string dump_json(const OrderedJson& json, int indent = -1);

template <typename T>
Json value_or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}
// null for an empty text.
Json text_or_null(std::string_view text);

// The field, or a null value when `object` is not an object or lacks it.
const Json& field(const Json& object, const char* key);
std::string text_field(const Json& object, const char* key);
std::optional<int64_t> integer(const Json& value);
std::optional<int64_t> integer_field(const Json& object, const char* key);
std::optional<double> number_field(const Json& object, const char* key);

}  // namespace trainscope
