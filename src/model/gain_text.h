// How an advice states what it can bring at most. A proof that allows less replaces it.
#pragma once

#include <fmt/format.h>

#include <string>

namespace trainscope {

inline std::string gain_text(double speedup) {
  return fmt::format("at most {:.2f} times as fast", speedup);
}

}  // namespace trainscope
