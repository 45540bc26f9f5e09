#include "base/crc32c.h"

#include <array>
#include <cstddef>

namespace trainscope {

namespace {

constexpr uint32_t kPolynomial = 0x82F63B78;  // Castagnoli, lowest bit first
constexpr size_t kSlice = 16;                 // bytes per round; a table for each of them

// kTables[k][b]: what byte b adds to the sum when k more bytes follow it.
using Tables = std::array<std::array<uint32_t, 256>, kSlice>;

constexpr Tables make_tables() {
  Tables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t sum = byte;
    for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1U) ^ ((sum & 1U) != 0 ? kPolynomial : 0);
    tables[0][byte] = sum;
  }
  for (size_t k = 1; k < kSlice; ++k) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint32_t before = tables[k - 1][byte];
      tables[k][byte] = (before >> 8U) ^ tables[0][before & 0xFFU];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();

uint32_t add_slice(uint32_t sum, const unsigned char* bytes) {
  uint32_t next = 0;
  for (unsigned i = 0; i < 4; ++i) {
    next ^= kTables[kSlice - 1 - i][bytes[i] ^ ((sum >> (8 * i)) & 0xFFU)];
  }
  for (size_t i = 4; i < kSlice; ++i) next ^= kTables[kSlice - 1 - i][bytes[i]];
  return next;
}

}  // namespace

uint32_t crc32c(std::string_view bytes, uint32_t seed) {
  uint32_t sum = ~seed;
  const auto* at = reinterpret_cast<const unsigned char*>(bytes.data());
  size_t left = bytes.size();
  for (; left >= kSlice; left -= kSlice, at += kSlice) sum = add_slice(sum, at);
  for (; left > 0; --left, ++at) sum = (sum >> 8U) ^ kTables[0][(sum ^ *at) & 0xFFU];
  return ~sum;
}

}  // namespace trainscope
