// The files of the page. They hold no data: they are for everybody who comes under the right name.
#pragma once

#include <optional>
#include <string_view>

#include "web/answer.h"

namespace trainscope {

// `known`: the tag of what the browser has already. Nothing for other paths.
std::optional<WebAnswer> page_answer(std::string_view path, std::string_view known);

}  // namespace trainscope
