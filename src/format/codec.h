// Blocks of rows as bytes and back: delta-varint columns, zstd on top (docs/run-format.md).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/metric.h"

namespace trainscope {

// A file with more columns, or a period of more than a year, is damaged. Tick x period stays far
// from the end of 64 bits.
inline constexpr uint64_t kMaxColumns = 1 << 20;
inline constexpr int64_t kMaxPeriodNs = int64_t{366} * 86400 * 1'000'000'000;

inline constexpr size_t kMaxVarintBytes = 10;
void append_uvarint(std::string& out, uint64_t value);
void append_svarint(std::string& out, int64_t value);
// Takes one off the front; false when the bytes end or it is longer than 10 bytes. Most are a byte
// long, and reading a run is little else than this.
bool take_long_uvarint(std::string_view& in, uint64_t& value);
inline bool take_uvarint(std::string_view& in, uint64_t& value) {
  if (in.empty() || static_cast<unsigned char>(in[0]) >= 0x80) return take_long_uvarint(in, value);
  value = static_cast<unsigned char>(in[0]);
  in.remove_prefix(1);
  return true;
}
inline bool take_svarint(std::string_view& in, int64_t& value) {
  uint64_t zigzag = 0;
  if (!take_uvarint(in, zigzag)) return false;
  value = static_cast<int64_t>((zigzag >> 1U) ^ (~(zigzag & 1U) + 1U));
  return true;
}

// A zstd frame that knows its size, and back.
std::string compress(std::string_view plain, int zstd_level);
// `most` is what the plain text can be; a frame that claims more is malformed. Nothing is allocated
// for a claim that the frame's own length belies.
Result<std::string> decompress(std::string_view body, size_t most);

struct RowTime {
  int64_t tick = 0;
  int64_t late_us = 0;  // begin - due
};

// What a run can hold: 146 years, and rows that were read up to 13 days late.
inline constexpr int64_t kMaxTimeNs = int64_t{1} << 62;
inline constexpr int64_t kMaxLateUs = int64_t{1} << 40;

// False for a row that no run can hold.
inline bool is_within_time(const RowTime& row, int64_t period_ns) {
  return row.tick >= 0 && period_ns > 0 && row.tick <= kMaxTimeNs / period_ns &&
         row.late_us >= -kMaxLateUs && row.late_us <= kMaxLateUs;
}

struct TimesBlock {
  uint64_t stream = 0, block = 0;
  std::vector<RowTime> rows;
};

std::string encode_times(uint64_t stream, uint64_t block, std::span<const RowTime> rows);
Result<TimesBlock> decode_times(std::string_view payload);

// What a column's statistics add up: the increases of a counter, the values of others. A double's
// are not added up.
enum class Totals { increases, sum, none };
inline Totals totals_of(Kind kind, bool is_double) {
  if (is_double) return Totals::none;
  return kind == Kind::counter ? Totals::increases : Totals::sum;
}

struct ColumnStatistics {
  uint64_t present = 0;
  int64_t first = 0, last = 0, min = 0, max = 0;
  uint64_t total = 0;
};

struct EncodeOptions {
  std::span<const Totals> totals;  // one per column; empty: no statistics
  int zstd_level = 0;              // 0: plain
};

// Rows are given as pointers to their first value of this source; `columns` values each.
std::string encode_columns(uint64_t schema, uint64_t block, std::span<const int64_t* const> rows,
                           size_t columns, const EncodeOptions& options, uint8_t& flags);

// A block as frames: the times of its rows, then the values of each source.
void append_times(std::string& frames, uint64_t stream, uint64_t block,
                  std::span<const RowTime> rows);
void append_columns(std::string& frames, uint64_t schema, uint64_t block,
                    std::span<const int64_t* const> rows, size_t columns,
                    const EncodeOptions& options);

struct ColumnsHeader {
  uint64_t schema = 0, block = 0, rows = 0;
  std::vector<ColumnStatistics> statistics;  // empty without kFrameStatistics
  std::string_view body;                     // still compressed with kFrameZstd
};

// `columns` and `totals` come from the schema, so the caller reads `schema` first.
Result<uint64_t> peek_schema(std::string_view payload);
Result<ColumnsHeader> decode_columns_header(std::string_view payload, uint8_t flags,
                                            std::span<const Totals> totals);
// The body without its compression, where each column begins in it (every column is checked, so
// that decode_column cannot fail afterwards), and one column: kAbsent where absent. `out` has one
// entry per row.
Result<std::string> plain_body(const ColumnsHeader& header, uint8_t flags, size_t columns);
Result<std::vector<uint32_t>> column_offsets(std::string_view plain, uint64_t rows, size_t columns);
Status decode_column(std::string_view plain, size_t offset, std::span<int64_t> out);

}  // namespace trainscope
