#include "web/answer.h"

#include "base/json.h"

namespace trainscope {

WebAnswer json_answer(const Json& document) {
  WebAnswer answer;
  answer.body = dump_json(document);
  return answer;
}

WebAnswer refusal(int status, std::string_view sentence) {
  WebAnswer answer = json_answer({{"error", sentence}});
  answer.status = status;
  return answer;
}

}  // namespace trainscope
