#include "format/varint.h"

#include <algorithm>
#include <bit>
#include <cstring>

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

namespace {

uint64_t unzigzag(uint64_t value) { return (value >> 1U) ^ (~(value & 1U) + 1U); }

constexpr size_t kWordBytes = sizeof(uint64_t);
constexpr uint64_t kTopBits = 0x8080808080808080U, kLowBits = 0x0101010101010101U;

uint64_t word_at(const char* bytes) {
  static_assert(std::endian::native == std::endian::little);
  uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

// The value of a varint of which these bytes have no other: 7 bits of each, put together without a
// branch, because lengths vary from value to value.
uint64_t joined_bits(uint64_t bytes) {
  bytes &= ~kTopBits;
  bytes = ((bytes & 0x7F007F007F007F00U) >> 1U) | (bytes & 0x007F007F007F007FU);
  bytes = ((bytes & 0x3FFF00003FFF0000U) >> 2U) | (bytes & 0x00003FFF00003FFFU);
  return ((bytes & 0x0FFFFFFF00000000U) >> 4U) | (bytes & 0x000000000FFFFFFFU);
}

// Varints that end within these eight bytes, as a bit at the top of each one's last byte.
uint64_t varint_ends(const char* bytes) { return ~word_at(bytes) & kTopBits; }

}  // namespace

// One difference after another. Most take a byte and many are 0, so eight bytes are looked at
// together.
bool take_deltas(std::string_view& in, std::span<int64_t> out) {
  const char* at = in.data();
  const char* const end = at + in.size();
  uint64_t value = 0;
  size_t r = 0;
  while (r < out.size()) {
    if (out.size() - r >= kWordBytes && static_cast<size_t>(end - at) >= kWordBytes) {
      uint64_t word = word_at(at);
      if (word == 0) {
        std::fill_n(out.begin() + static_cast<std::ptrdiff_t>(r), kWordBytes,
                    static_cast<int64_t>(value));
        at += kWordBytes;
        r += kWordBytes;
        continue;
      }
      if ((word & kTopBits) == 0) {
        for (size_t i = 0; i < kWordBytes; ++i, word >>= 8U) {
          value += unzigzag(word & 0x7FU);
          out[r + i] = static_cast<int64_t>(value);
        }
        at += kWordBytes;
        r += kWordBytes;
        continue;
      }
      if (const uint64_t ends = ~word & kTopBits; ends != 0) {
        const auto last_bit = static_cast<unsigned>(std::countr_zero(ends));
        value += unzigzag(joined_bits(word & (~uint64_t{0} >> (kWordBytes * 8 - 1 - last_bit))));
        out[r++] = static_cast<int64_t>(value);
        at += last_bit / 8 + 1;
        continue;
      }
    }
    std::string_view rest(at, static_cast<size_t>(end - at));
    uint64_t delta = 0;
    if (!take_uvarint(rest, delta)) return false;
    at = rest.data();
    value += unzigzag(delta);
    out[r++] = static_cast<int64_t>(value);
  }
  in.remove_prefix(static_cast<size_t>(at - in.data()));
  return true;
}

// Eight bytes at a time. A varint is at most kMaxVarintBytes long; `open` counts the bytes of one
// that began in the bytes before.
bool skip_varints(std::string_view& in, size_t count) {
  size_t open = 0;
  while (count > 8 && in.size() >= 8) {
    const uint64_t ends = varint_ends(in.data());
    const auto leading = static_cast<size_t>(ends == 0 ? 8 : std::countr_zero(ends) / 8);
    if (open + leading >= kMaxVarintBytes) return false;
    open = ends == 0 ? open + 8 : static_cast<size_t>(std::countl_zero(ends) / 8);
    count -= ((ends >> 7U) * kLowBits) >> 56U;  // adds up the eight bytes
    in.remove_prefix(8);
  }
  if (open > 0) in = std::string_view(in.data() - open, in.size() + open);
  uint64_t ignored = 0;
  for (size_t i = 0; i < count; ++i) {
    if (!take_uvarint(in, ignored)) return false;
  }
  return true;
}

}  // namespace trainscope
