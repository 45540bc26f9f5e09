// The series of a run: the same metric and labels in several schemas (a restart, a changed layout)
// are one.
#pragma once

#include <cstdint>
#include <vector>

#include "model/metric.h"
#include "store/read/run_index.h"

namespace trainscope {

struct SeriesPart {
  const StoredSchema* schema = nullptr;
  size_t column = 0;
};

struct StoredSeries {
  Series series;
  std::vector<SeriesPart> parts;  // by the numbers of their schemas
  std::vector<uint64_t> streams;  // usually one

  // The frame of this block that holds the series, and the column in it; null when there is none.
  const ColumnsFrame* find(const StoredBlock& block, const StoredColumn*& column, size_t& at) const;
};

struct SeriesDirectory {
  std::vector<StoredSeries> stored;  // by metric, then labels with their numbers as numbers
  std::vector<Series> absent;  // metrics that the machine did not provide, with reason and remedy
};

SeriesDirectory list_series(const RunIndex& index);

// The places of series in order: by metric, then by labels; runs of digits compare as numbers, so
// cpu=10 comes after cpu=9.
std::vector<size_t> order_of_series(const std::vector<const Series*>& series);

// Puts what has a member `series` into that order.
template <typename HasSeries>
void sort_by_series(std::vector<HasSeries>& list) {
  std::vector<const Series*> series;
  for (const HasSeries& each : list) series.push_back(&each.series);
  std::vector<HasSeries> sorted;
  sorted.reserve(list.size());
  for (const size_t i : order_of_series(series)) sorted.push_back(std::move(list[i]));
  list = std::move(sorted);
}

}  // namespace trainscope
