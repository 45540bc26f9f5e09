#include "export/support/text.h"

#include <fmt/format.h>

#include <iterator>

namespace trainscope {

void append_time(std::string& out, double time_s) {
  fmt::format_to(std::back_inserter(out), "{:.6f}", time_s);
}

void append_value(std::string& out, double value) {
  fmt::format_to(std::back_inserter(out), "{}", value);
}

}  // namespace trainscope
