// What is sent back.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_fwd.h"

namespace trainscope {

struct WebAnswer {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers = {};  // besides those of every answer

  // Whether it is what the browser has already (If-None-Match).
  bool has_tag(std::string_view tag) const;
};

WebAnswer json_answer(const Json& document);
// {"error": sentence}
WebAnswer refusal(int status, std::string_view sentence);

}  // namespace trainscope
