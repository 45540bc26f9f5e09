// The series of a run: the same metric and labels in several schemas (a restart, a changed layout)
// are one.
#pragma once

#include <cstdint>
#include <vector>

#include "model/metric.h"
#include "store/run_index.h"

namespace trainscope {

struct SeriesPart {
  const StoredSchema* schema = nullptr;
  size_t column = 0;
};

struct StoredSeries {
  Series series;
  std::vector<SeriesPart> parts;  // in order of schemas
  std::vector<uint64_t> streams;  // usually one

  // The frame of this block that holds the series, and the column in it; null when there is none.
  const ColumnsFrame* find(const StoredBlock& block, const StoredColumn*& column, size_t& at) const;
};

struct SeriesDirectory {
  std::vector<StoredSeries> stored;  // by metric, then labels with their numbers as numbers
  std::vector<Series> absent;  // metrics that the machine did not give, with reason and remedy
};

SeriesDirectory list_series(const RunIndex& index);

// By metric, then by labels; runs of digits compare as numbers, so cpu=10 comes after cpu=9.
bool series_before(const Series& a, const Series& b);

}  // namespace trainscope
