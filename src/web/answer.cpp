#include "web/answer.h"

#include <algorithm>

#include "base/json.h"

namespace trainscope {

WebAnswer json_answer(const Json& document) {
  WebAnswer answer;
  answer.body = dump_json(document);
  return answer;
}

bool WebAnswer::has_tag(std::string_view tag) const {
  return std::any_of(headers.begin(), headers.end(), [&](const auto& header) {
    return header.first == "ETag" && header.second == tag;
  });
}

WebAnswer refusal(int status, std::string_view sentence) {
  WebAnswer answer = json_answer({{"error", sentence}});
  answer.status = status;
  return answer;
}

}  // namespace trainscope
