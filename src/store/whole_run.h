// Keeping a run whose values are all known already: what an importer has read.
//
// Guarantees: the run appears in the home whole or not at all; it is made in a folder of another
// name and renamed at the end. Limits: one set of rows, so one period for all columns.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/model.h"
#include "store/codec.h"
#include "store/store.h"

namespace trainscope {

struct WholeColumn {
  std::string metric;
  Labels labels;  // sorted by name
  std::string unit;
  Kind kind = Kind::gauge;
  Scale scale;
  std::vector<int64_t> values;  // raw, one a row; kNoValue where absent
};

struct WholeMissing {
  std::string metric, unit, reason;
};

struct WholeRun {
  Manifest manifest;   // its id is given by keep_run
  std::string source;  // who made the columns
  std::vector<RowTime> rows;
  std::vector<WholeColumn> columns;
  std::vector<WholeMissing> missing;
  std::vector<Event> events;
  std::string host_json = "{}";
};

// Writes it into `home`, which is made when it is missing.
Result<NewRun> keep_run(const std::string& home, const WholeRun& run);

}  // namespace trainscope
