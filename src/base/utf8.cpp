#include "base/utf8.h"

#include <cstddef>

namespace trainscope {

char32_t take_code_point(std::string_view& text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  size_t length = lead < 0x80 ? 1 : lead >= 0xF0 && lead < 0xF5 ? 4 : lead >= 0xE0 ? 3 : 2;
  const bool bad_lead = (lead >= 0x80 && lead < 0xC2) || lead >= 0xF5;
  char32_t point = length == 1 ? lead : lead & (0x7FU >> length);
  for (size_t i = 1; i < length && !bad_lead; ++i) {
    if (i >= text.size() || (byte(i) & 0xC0U) != 0x80U) {
      text.remove_prefix(1);
      return kReplacementCharacter;
    }
    point = (point << 6U) | (byte(i) & 0x3FU);
  }
  if (bad_lead) length = 1;
  text.remove_prefix(length);
  return bad_lead ? kReplacementCharacter : point;
}

}  // namespace trainscope
