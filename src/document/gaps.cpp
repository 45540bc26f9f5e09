#include "document/gaps.h"

#include "base/json.h"

namespace trainscope {

Json gaps_json(const std::vector<Gap>& gaps) {
  Json list = Json::array();
  for (const Gap& gap : gaps) {
    list.push_back({{"from_s", gap.from_s}, {"to_s", gap.to_s}, {"reason", gap.reason}});
  }
  return list;
}

}  // namespace trainscope
