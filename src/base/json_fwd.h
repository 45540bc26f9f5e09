// The names of JSON values, for headers; a .cpp file includes base/json.h.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace trainscope {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;  // keeps the order in which fields were added

}  // namespace trainscope
