#include "report/pack.h"

#include <zlib.h>

#include <cstdint>
#include <cstring>

#include "base/json.h"

namespace trainscope {

namespace {

constexpr int kGzipFormat = 16;  // added to the bits of the window
constexpr int kMemoryLevel = 9;
// Columns of a day: 9 would take 7 s instead of 0.5 s for one per cent.
constexpr int kLevel = 6;
constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
// Of 52 bits of a double's mantissa, 17 stay.
constexpr int kDroppedBits = 35;
constexpr size_t kColumnsHeadBytes = 8;

}  // namespace

Result<std::string> gzipped(std::string_view bytes) {
  z_stream stream{};
  if (deflateInit2(&stream, kLevel, Z_DEFLATED, MAX_WBITS + kGzipFormat, kMemoryLevel,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    return Error("cannot compress the data of the report: not enough memory");
  }
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  // zlib does not change its input, but its interface is older than const.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int end = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  if (end != Z_STREAM_END) return Error("cannot compress the data of the report");
  return out;
}

std::string base64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t at = 0; at < bytes.size(); at += 3) {
    const size_t count = bytes.size() - at < 3 ? bytes.size() - at : 3;
    uint32_t group = 0;
    for (size_t i = 0; i < 3; ++i) {
      const auto byte = i < count ? static_cast<unsigned char>(bytes[at + i]) : 0U;
      group = group << 8U | byte;
    }
    for (size_t i = 0; i < 4; ++i) {
      out += i <= count ? kDigits[(group >> (18 - 6 * i)) & 63U] : '=';
    }
  }
  return out;
}

std::string json_for_html(const Json& json) {
  std::string out;
  for (const char c : dump_json(json)) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

std::string rounded_columns(std::string columns) {
  uint32_t header = 0;
  if (columns.size() < kColumnsHeadBytes) return columns;
  for (size_t i = 0; i < sizeof header; ++i) {
    header |= static_cast<uint32_t>(static_cast<unsigned char>(columns[4 + i])) << (8 * i);
  }
  constexpr uint64_t kKept = ~((uint64_t{1} << kDroppedBits) - 1);
  for (size_t at = kColumnsHeadBytes + header; at + 8 <= columns.size(); at += 8) {
    // Little-endian: the low bits of the mantissa come first.
    for (size_t i = 0; i < 8; ++i) {
      const auto mask = static_cast<unsigned char>(kKept >> (8 * i));
      columns[at + i] = static_cast<char>(static_cast<unsigned char>(columns[at + i]) & mask);
    }
  }
  return columns;
}

}  // namespace trainscope
