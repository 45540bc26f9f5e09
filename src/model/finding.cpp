#include "model/finding.h"

#include <fmt/format.h>

#include "base/text.h"

namespace trainscope {

std::string seen_text(double value, std::string_view unit) {
  if (unit == "%") return fmt::format("{} %", number_text(100 * value));
  if (unit == "By/s") return bytes_text(value) + "/s";
  if (unit == "By") return bytes_text(value);
  if (unit.empty()) return number_text(value);
  return fmt::format("{}{}{}", number_text(value), unit.starts_with('/') ? "" : " ", unit);
}

}  // namespace trainscope
