// What `info` shows of a column, put together block by block: from a block's statistics, or from
// its values where they are few or have none.
#pragma once

#include <cstdint>
#include <span>

#include "format/format.h"

namespace trainscope {

// Sums are wider than a double and differences are taken of raw integers: the increase of a counter
// is exact.
struct ColumnSummary {
  const StoredColumn* column = nullptr;  // of the last value
  uint64_t present = 0;
  int64_t first = 0, last = 0;  // raw
  double min = 0, max = 0;
  long double increase = 0, sum = 0;
  // The blocks of the stream with the first and the last value; full: every row has one.
  size_t first_block = 0, last_block = 0;
  bool is_first_full = false, is_last_full = false;
  // A block has values that were not read: this summary is not of all of them.
  bool is_incomplete = false;

  // What follows in time. A decrease of a counter is a reset and counts nothing.
  void add(const ColumnSummary& later);
};

// From one raw value to a later one.
long double increase_between(const StoredColumn& column_a, int64_t a, const StoredColumn& column_b,
                             int64_t b);

ColumnSummary summarize_statistics(const ColumnStatistics& statistics, const StoredColumn& column);
ColumnSummary summarize_values(std::span<const int64_t> raw, const StoredColumn& column);

// Of all columns of a schema, and which blocks of its stream it has.
struct SchemaSummary {
  std::vector<ColumnSummary> columns;
  size_t first_block = SIZE_MAX, last_block = 0;

  bool has_blocks() const { return first_block <= last_block; }
};

// The rows of a block that count, for the values of a columns frame.
struct CountedRows {
  size_t block = 0;  // its number in the stream
  size_t rows = 0, begin = 0, end = 0;
};

// Adds one frame of the schema. Values that cannot be read make the summary incomplete.
void add_frame_summary(SchemaSummary& summary, const StoredSchema& schema,
                       const ColumnsHeader& header, uint8_t flags, const CountedRows& rows);

}  // namespace trainscope
