// Series that are not stored but computed from stored ones on reading (marked † in the reference).
//
// Guarantees: a value is there only when all its inputs are, at its row and, for rates, at the row
// in front of it; a counter that went backwards gives no value there. The same rows give the same
// values whatever range is asked for.
#pragma once

#include <string>
#include <vector>

#include "model/model.h"
#include "store/series_directory.h"

namespace trainscope {

struct DerivedSpec;

struct DerivedSeries {
  Series series;
  const DerivedSpec* spec = nullptr;
  std::vector<size_t> inputs;  // places in the directory's stored series
  std::vector<char> roles;     // one an input: what it is to the formula
  double divisor = 1;          // what the formula divides by besides time
};

// All derived series that the stored ones allow, and those they do not, absent with the reason.
std::vector<DerivedSeries> list_derived(const SeriesDirectory& directory,
                                        const std::string& host_json);

// `inputs` are the inputs' points in the range and the row before it.
Points compute_derived(const DerivedSeries& derived, const Range& range,
                       std::vector<Points> inputs);

}  // namespace trainscope
