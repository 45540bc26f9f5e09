// CRC-32C (Castagnoli), the checksum of our own frames and of TFRecord files.
#pragma once

#include <cstdint>
#include <string_view>

namespace trainscope {

// `seed` is the checksum of the bytes before: crc32c("6789", crc32c("12345")) ==
// crc32c("123456789").
uint32_t crc32c(std::string_view bytes, uint32_t seed = 0);

}  // namespace trainscope
