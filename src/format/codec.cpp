#include "format/codec.h"

#include <fmt/format.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <bit>
#include <new>

#include "format/frame.h"
#include "format/varint.h"

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
