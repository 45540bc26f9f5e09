#include "store/read/column_summary.h"

#include <algorithm>

#include "format/format.h"

namespace trainscope {

namespace {

long double scaled(long double raw, const Scale& scale) {
  return raw * static_cast<long double>(scale.numerator) /
         static_cast<long double>(scale.denominator);
}

void add_block_summary(ColumnSummary& all, ColumnSummary part, const CountedRows& rows) {
  if (part.present == 0) return;
  part.first_block = part.last_block = rows.block;
  part.is_first_full = part.is_last_full = part.present == rows.end - rows.begin;
  all.add(part);
}

Status add_values(SchemaSummary& summary, const StoredSchema& schema, const ColumnsHeader& header,
                  uint8_t flags, const CountedRows& rows) {
  const size_t columns = schema.columns.size();
  TS_TRY(const std::string plain, plain_body(header, flags, columns));
  TS_TRY(const std::vector<uint32_t> offsets, column_offsets(plain, header.rows, columns));
  std::vector<int64_t> raw(rows.rows);
  for (size_t c = 0; c < columns; ++c) {
    TS_CHECK_OK(decode_column(plain, offsets[c], raw));
    const auto counted = std::span(raw).subspan(rows.begin, rows.end - rows.begin);
    add_block_summary(summary.columns[c], summarize_values(counted, schema.columns[c]), rows);
  }
  return {};
}

// False: the statistics do not fit these rows.
bool are_plausible(const ColumnsHeader& header, const CountedRows& rows) {
  return std::all_of(header.statistics.begin(), header.statistics.end(),
                     [&](const ColumnStatistics& s) { return s.present <= rows.rows; });
}

}  // namespace

long double increase_between(const StoredColumn& column_a, int64_t a, const StoredColumn& column_b,
                             int64_t b) {
  if (!column_a.is_double && !column_b.is_double && column_a.scale == column_b.scale) {
    if (b <= a) return 0;
    return scaled(static_cast<long double>(static_cast<uint64_t>(b) - static_cast<uint64_t>(a)),
                  column_a.scale);
  }
  const double from = column_a.value(a).value_or(0), to = column_b.value(b).value_or(0);
  return to > from ? static_cast<long double>(to) - static_cast<long double>(from) : 0;
}

void ColumnSummary::add(const ColumnSummary& later) {
  is_incomplete = is_incomplete || later.is_incomplete;
  if (later.present == 0) return;
  if (present == 0) {
    const bool incomplete = is_incomplete;
    *this = later;
    is_incomplete = incomplete;
    return;
  }
  increase += increase_between(*column, last, *later.column, later.first) + later.increase;
  sum += later.sum;
  present += later.present;
  column = later.column;
  last = later.last;
  min = std::min(min, later.min);
  max = std::max(max, later.max);
  last_block = later.last_block;
  is_last_full = later.is_last_full;
}

ColumnSummary summarize_statistics(const ColumnStatistics& statistics, const StoredColumn& column) {
  ColumnSummary part;
  part.column = &column;
  part.present = statistics.present;
  if (statistics.present == 0) return part;
  part.first = statistics.first;
  part.last = statistics.last;
  part.min = column.scale.apply(statistics.min);
  part.max = column.scale.apply(statistics.max);
  if (column.kind == Kind::counter) {
    part.increase = scaled(static_cast<long double>(statistics.total), column.scale);
  } else {
    part.sum = scaled(
        static_cast<long double>(statistics.min) * static_cast<long double>(statistics.present) +
            static_cast<long double>(statistics.total),
        column.scale);
  }
  return part;
}

ColumnSummary summarize_values(std::span<const int64_t> raw, const StoredColumn& column) {
  ColumnSummary part;
  part.column = &column;
  for (const int64_t number : raw) {
    const auto value = column.value(number);
    if (!value) continue;
    if (part.present++ == 0) {
      part.first = number;
      part.min = part.max = *value;
    } else {
      part.increase += increase_between(column, part.last, column, number);
    }
    part.last = number;
    part.min = std::min(part.min, *value);
    part.max = std::max(part.max, *value);
    part.sum += column.is_double ? static_cast<long double>(*value)
                                 : scaled(static_cast<long double>(number), column.scale);
  }
  return part;
}

void add_frame_summary(SchemaSummary& summary, const StoredSchema& schema,
                       const ColumnsHeader& header, uint8_t flags, const CountedRows& rows) {
  summary.columns.resize(schema.columns.size());
  summary.first_block = std::min(summary.first_block, rows.block);
  summary.last_block = std::max(summary.last_block, rows.block);
  if (rows.begin == rows.end) return;
  const bool is_whole = rows.begin == 0 && rows.end == rows.rows;
  if (!is_whole || (flags & kFrameStatistics) == 0 || !are_plausible(header, rows)) {
    if (add_values(summary, schema, header, flags, rows)) return;
    for (ColumnSummary& column : summary.columns) column.is_incomplete = true;
    return;
  }
  for (size_t c = 0; c < schema.columns.size(); ++c) {
    const ColumnStatistics& statistics = header.statistics[c];
    if (schema.columns[c].is_double) {
      // Statistics of doubles only count them, including values that are not a number.
      if (statistics.present > 0) summary.columns[c].is_incomplete = true;
    } else if (statistics.present > 0) {
      add_block_summary(summary.columns[c], summarize_statistics(statistics, schema.columns[c]),
                        rows);
    }
  }
}

}  // namespace trainscope
