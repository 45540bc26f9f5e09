#include "analyze/analyze.h"

namespace trainscope {

const Analysis& analysis_named(std::string_view name) {
  for (const Analysis* each : analyses()) {
    if (each->name == name) return *each;
  }
  CHECK(false);
}

}  // namespace trainscope
