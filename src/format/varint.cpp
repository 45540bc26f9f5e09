#include "format/codec.h"

namespace trainscope {

namespace {

uint64_t zigzag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1U) ^ static_cast<uint64_t>(value >> 63);
}

}  // namespace

void append_uvarint(std::string& out, uint64_t value) {
  while (value >= 0x80) {
    out += static_cast<char>(value | 0x80U);
    value >>= 7U;
  }
  out += static_cast<char>(value);
}

void append_svarint(std::string& out, int64_t value) { append_uvarint(out, zigzag(value)); }

bool take_long_uvarint(std::string_view& in, uint64_t& value) {
  value = 0;
  for (size_t i = 0; i < kMaxVarintBytes && i < in.size(); ++i) {
    const auto byte = static_cast<unsigned char>(in[i]);
    value |= static_cast<uint64_t>(byte & 0x7FU) << (7 * i);
    if (byte < 0x80) {
      in.remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}

}  // namespace trainscope
