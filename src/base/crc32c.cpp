#include "base/crc32c.h"

#include <boost/crc.hpp>

namespace trainscope {

uint32_t crc32c(std::string_view bytes, uint32_t seed) {
  // A seed continues an earlier sum. Boost takes the register before the final inversion and,
  // although this sum is a reflected one, with its highest bit first.
  uint32_t start = 0;
  for (unsigned bit = 0; bit < 32; ++bit) start |= ((~seed >> bit) & 1U) << (31 - bit);
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> crc(start);
  crc.process_bytes(bytes.data(), bytes.size());
  return crc.checksum();
}

}  // namespace trainscope
