// Keeping a run that has ended long ago: what an importer reads.
//
// Guarantees: the run appears in the home whole or not at all; it is made in a folder of another
// name and renamed at the end. Rows are asked for one after the other, so memory is that of a block
// however long the run is. Limits: one set of rows, so one period for all columns.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "format/format.h"
#include "model/model.h"
#include "store/store.h"

namespace trainscope {

struct WholeColumn {
  std::string metric;
  Labels labels;  // sorted by name
  std::string unit;
  Kind kind = Kind::gauge;
  Scale scale;
};

struct WholeMissing {
  std::string metric, unit, reason;
};

// The rows of a run, from the first to the last.
class RowSource {
 public:
  virtual ~RowSource() = default;
  // Fills in the next row: raw values, one a column, kAbsent where absent. False when there is no
  // more.
  virtual Result<bool> next(RowTime& time, std::span<int64_t> values) = 0;
  // What was learned from the rows; asked after the last one.
  virtual std::vector<std::string> notes() const { return {}; }
};

struct WholeRun {
  Manifest manifest;   // its id and duration are given by keep_run
  std::string source;  // who made the columns
  std::vector<WholeColumn> columns;
  std::vector<WholeMissing> missing;
  std::vector<Event> events;
  std::string host_json = "{}";
  std::unique_ptr<RowSource> rows;
};

struct KeptRun {
  std::string path;
  Manifest manifest;
  int64_t rows = 0;
};

// Writes it into `home`, which is made when it is missing.
Result<KeptRun> keep_run(const std::string& home, const WholeRun& run);

}  // namespace trainscope
