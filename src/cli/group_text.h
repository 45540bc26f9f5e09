// Text output of `info GROUP`.
#pragma once

#include <string>

#include "document/document.h"

namespace trainscope {

struct GroupStyle {
  bool all = false;  // every member, however many there are
  bool colour = false;
};
std::string group_text(const GroupSummary& summary, const GroupStyle& style);

}  // namespace trainscope
