#include "format/codec.h"

#include <fmt/format.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "format/frame.h"

namespace trainscope {

namespace {

enum class Presence : char { all = 0, bitmap = 1, none = 2, constant = 3 };

constexpr uint64_t kMaxRows = 1 << 20;
constexpr size_t kZstdBlockHeaderBytes = 3;  // the least that a block of ZSTD_BLOCKSIZE_MAX takes

// Differences are taken modulo 2^64: any two values have one, and adding it back is exact.
int64_t difference(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

int64_t sum(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

void append_statistics(std::string& out, std::span<const int64_t* const> rows, size_t column,
                       Totals totals) {
  ColumnStatistics s;
  uint64_t increases = 0;
  for (const int64_t* row : rows) {
    const int64_t value = row[column];
    if (value == kAbsent) continue;
    if (s.present++ == 0) {
      s.first = s.min = s.max = value;
    } else if (value > s.last) {
      increases += static_cast<uint64_t>(difference(value, s.last));
    }
    s.last = value;
    s.min = std::min(s.min, value);
    s.max = std::max(s.max, value);
  }
  append_uvarint(out, s.present);
  if (s.present == 0 || totals == Totals::none) return;
  s.total = increases;
  if (totals == Totals::sum) {
    s.total = 0;
    for (const int64_t* row : rows) {
      if (row[column] != kAbsent) s.total += static_cast<uint64_t>(difference(row[column], s.min));
    }
  }
  append_svarint(out, s.first);
  append_svarint(out, difference(s.last, s.first));
  append_uvarint(out, static_cast<uint64_t>(difference(s.first, s.min)));
  append_uvarint(out, static_cast<uint64_t>(difference(s.max, s.first)));
  append_uvarint(out, s.total);
}

void append_column(std::string& out, std::span<const int64_t* const> rows, size_t column) {
  size_t present = 0;
  bool same = true;
  for (const int64_t* row : rows) {
    if (row[column] != kAbsent) ++present;
    same = same && row[column] == rows[0][column];
  }
  if (present == 0) {
    out += static_cast<char>(Presence::none);
    return;
  }
  if (same) {
    out += static_cast<char>(Presence::constant);
    append_svarint(out, rows[0][column]);
    return;
  }
  const bool whole = present == rows.size();
  out += static_cast<char>(whole ? Presence::all : Presence::bitmap);
  if (!whole) {
    const size_t begin = out.size();
    out.append((rows.size() + 7) / 8, '\0');
    for (size_t r = 0; r < rows.size(); ++r) {
      if (rows[r][column] == kAbsent) continue;
      char& byte = out[begin + r / 8];
      byte = static_cast<char>(static_cast<unsigned char>(byte) | (1U << (r % 8)));
    }
  }
  int64_t previous = 0;
  for (const int64_t* row : rows) {
    if (row[column] == kAbsent) continue;
    append_svarint(out, difference(row[column], previous));
    previous = row[column];
  }
}

Error bad(const char* what) { return Error(fmt::format("malformed block: {}", what)); }

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

// One column off the front of the body into `out` (rows values).
bool take_column(std::string_view& in, std::span<int64_t> out) {
  if (in.empty()) return false;
  const auto presence = static_cast<Presence>(in[0]);
  in.remove_prefix(1);
  if (presence == Presence::none) {
    std::fill(out.begin(), out.end(), kAbsent);
    return true;
  }
  int64_t value = 0;
  if (presence == Presence::constant) {
    if (!take_svarint(in, value)) return false;
    std::fill(out.begin(), out.end(), value);
    return true;
  }
  std::string_view bitmap;
  if (presence == Presence::bitmap) {
    const size_t bytes = (out.size() + 7) / 8;
    if (in.size() < bytes) return false;
    bitmap = in.substr(0, bytes);
    in.remove_prefix(bytes);
  } else if (presence != Presence::all) {
    return false;
  }
  if (bitmap.empty()) return take_deltas(in, out);
  for (size_t r = 0; r < out.size(); ++r) {
    if (((static_cast<unsigned char>(bitmap[r / 8]) >> (r % 8)) & 1U) == 0) {
      out[r] = kAbsent;
      continue;
    }
    int64_t delta = 0;
    if (!take_svarint(in, delta)) return false;
    value = sum(value, delta);
    out[r] = value;
  }
  return true;
}

// Varints that end within these eight bytes, as a bit at the top of each one's last byte.
uint64_t varint_ends(const char* bytes) { return ~word_at(bytes) & kTopBits; }

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

// One column off the front of the body, unread.
bool skip_column(std::string_view& in, size_t rows) {
  if (in.empty()) return false;
  const auto presence = static_cast<Presence>(in[0]);
  in.remove_prefix(1);
  if (presence == Presence::none) return true;
  if (presence == Presence::constant) return skip_varints(in, 1);
  if (presence == Presence::all) return skip_varints(in, rows);
  const size_t bytes = (rows + 7) / 8;
  if (presence != Presence::bitmap || in.size() < bytes) return false;
  size_t present = 0;
  for (size_t i = 0; i < bytes; ++i) {
    const size_t bits = std::min<size_t>(8, rows - 8 * i);
    const unsigned of_rows = static_cast<unsigned char>(in[i]) & ((1U << bits) - 1);
    present += static_cast<size_t>(std::popcount(of_rows));
  }
  in.remove_prefix(bytes);
  return skip_varints(in, present);
}

bool take_statistics(std::string_view& in, Totals totals, ColumnStatistics& s) {
  if (!take_uvarint(in, s.present)) return false;
  if (s.present == 0 || totals == Totals::none) return true;
  int64_t last = 0;
  uint64_t below = 0, above = 0;
  if (!take_svarint(in, s.first) || !take_svarint(in, last) || !take_uvarint(in, below) ||
      !take_uvarint(in, above) || !take_uvarint(in, s.total)) {
    return false;
  }
  s.last = sum(s.first, last);
  s.min = difference(s.first, static_cast<int64_t>(below));
  s.max = sum(s.first, static_cast<int64_t>(above));
  return true;
}

}  // namespace

std::string compress(std::string_view plain, int zstd_level) {
  std::string out(ZSTD_compressBound(plain.size()), '\0');
  const size_t n = ZSTD_compress(out.data(), out.size(), plain.data(), plain.size(), zstd_level);
  CHECK(ZSTD_isError(n) == 0U);
  out.resize(n);
  return out;
}

Result<std::string> decompress(std::string_view body, size_t most) {
  const unsigned long long size = ZSTD_getFrameContentSize(body.data(), body.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > most) {
    return bad("zstd size");
  }
  if (size / ZSTD_BLOCKSIZE_MAX > body.size() / kZstdBlockHeaderBytes) return bad("zstd size");
  std::string plain(size, '\0');
  const size_t n = ZSTD_decompress(plain.data(), plain.size(), body.data(), body.size());
  if (ZSTD_getErrorCode(n) == ZSTD_error_memory_allocation) throw std::bad_alloc();
  if (ZSTD_isError(n) != 0U || n != size) return bad("zstd data");
  return plain;
}

std::string encode_times(uint64_t stream, uint64_t block, std::span<const RowTime> rows) {
  std::string out;
  append_uvarint(out, stream);
  append_uvarint(out, block);
  append_uvarint(out, rows.size());
  for (size_t r = 0; r < rows.size(); ++r) {
    if (r == 0) {
      append_svarint(out, rows[0].tick);
    } else {
      append_uvarint(out, static_cast<uint64_t>(rows[r].tick - rows[r - 1].tick - 1));
    }
  }
  for (const RowTime& row : rows) append_svarint(out, row.late_us);
  return out;
}

Result<TimesBlock> decode_times(std::string_view payload) {
  TimesBlock times;
  uint64_t rows = 0;
  if (!take_uvarint(payload, times.stream) || !take_uvarint(payload, times.block) ||
      !take_uvarint(payload, rows) || rows > kMaxRows || rows > payload.size() / 2) {
    return bad("times header");  // a row takes at least two bytes
  }
  times.rows.resize(rows);
  int64_t tick = 0;
  for (size_t r = 0; r < rows; ++r) {
    uint64_t step = 0;
    if (r == 0 ? !take_svarint(payload, tick) : !take_uvarint(payload, step)) return bad("ticks");
    if (r > 0) {
      const int64_t previous = tick;
      tick = sum(sum(tick, static_cast<int64_t>(step)), 1);
      if (tick <= previous) return bad("ticks");
    }
    times.rows[r].tick = tick;
  }
  for (RowTime& row : times.rows) {
    if (!take_svarint(payload, row.late_us)) return bad("lateness");
  }
  return times;
}

std::string encode_columns(uint64_t schema, uint64_t block, std::span<const int64_t* const> rows,
                           size_t columns, const EncodeOptions& options, uint8_t& flags) {
  std::string out;
  flags = 0;
  append_uvarint(out, schema);
  append_uvarint(out, block);
  append_uvarint(out, rows.size());
  if (!options.totals.empty()) {
    CHECK(options.totals.size() == columns);
    flags |= kFrameStatistics;
    for (size_t c = 0; c < columns; ++c) append_statistics(out, rows, c, options.totals[c]);
  }
  if (options.zstd_level == 0) {
    for (size_t c = 0; c < columns; ++c) append_column(out, rows, c);
    return out;
  }
  std::string body;
  for (size_t c = 0; c < columns; ++c) append_column(body, rows, c);
  flags |= kFrameZstd;
  return out + compress(body, options.zstd_level);
}

void append_times(std::string& frames, uint64_t stream, uint64_t block,
                  std::span<const RowTime> rows) {
  append_frame(frames, FrameType::times, 0, encode_times(stream, block, rows));
}

void append_columns(std::string& frames, uint64_t schema, uint64_t block,
                    std::span<const int64_t* const> rows, size_t columns,
                    const EncodeOptions& options) {
  uint8_t flags = 0;
  const std::string payload = encode_columns(schema, block, rows, columns, options, flags);
  append_frame(frames, FrameType::columns, flags, payload);
}

Result<uint64_t> peek_schema(std::string_view payload) {
  uint64_t schema = 0;
  if (!take_uvarint(payload, schema)) return bad("schema number");
  return schema;
}

Result<ColumnsHeader> decode_columns_header(std::string_view payload, uint8_t flags,
                                            std::span<const Totals> totals) {
  ColumnsHeader header;
  if (!take_uvarint(payload, header.schema) || !take_uvarint(payload, header.block) ||
      !take_uvarint(payload, header.rows) || header.rows > kMaxRows) {
    return bad("columns header");
  }
  if ((flags & kFrameStatistics) != 0) {
    header.statistics.resize(totals.size());
    for (size_t c = 0; c < totals.size(); ++c) {
      if (!take_statistics(payload, totals[c], header.statistics[c])) return bad("statistics");
    }
  }
  header.body = payload;
  return header;
}

Result<std::string> plain_body(const ColumnsHeader& header, uint8_t flags, size_t columns) {
  if ((flags & kFrameZstd) == 0) return std::string(header.body);
  const uint64_t max_column_bytes = 1 + (header.rows + 7) / 8 + header.rows * kMaxVarintBytes;
  if (columns > kMaxColumns) return bad("column count");
  return decompress(header.body, std::min<uint64_t>(kMaxPayloadBytes, columns * max_column_bytes));
}

Result<std::vector<uint32_t>> column_offsets(std::string_view plain, uint64_t rows,
                                             size_t columns) {
  if (columns > plain.size() || rows > kMaxRows) return bad("column count");
  std::vector<uint32_t> offsets;
  offsets.reserve(columns);
  std::string_view rest = plain;
  for (size_t c = 0; c < columns; ++c) {
    offsets.push_back(static_cast<uint32_t>(plain.size() - rest.size()));
    if (!skip_column(rest, rows)) return bad("column data");
  }
  if (!rest.empty()) return bad("bytes after the last column");
  return offsets;
}

Status decode_column(std::string_view plain, size_t offset, std::span<int64_t> out) {
  if (offset >= plain.size()) return bad("column offset");
  plain.remove_prefix(offset);
  if (!take_column(plain, out)) return bad("column data");
  return {};
}

}  // namespace trainscope
