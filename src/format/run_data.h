// All of a run that has ended: what an importer reads, and how it is written to a folder.
//
// Guarantees: rows are taken one after the other, so memory is that of a block however long the run
// is. Limits: one set of rows, so one period for all columns.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "format/codec.h"
#include "format/segment_writer.h"
#include "model/manifest.h"

namespace trainscope {

struct ColumnData {
  std::string metric;
  Labels labels;  // sorted by name
  std::string unit;
  Kind kind = Kind::gauge;
  Scale scale;
};

struct MissingMetric {
  std::string metric, unit, reason;
};

// The rows of a run, from the first to the last.
class RowSource {
 public:
  virtual ~RowSource() = default;
  // Fills in the next row: one raw value per column, kAbsent where absent. False after the last
  // row.
  virtual Result<bool> next(RowTime& time, std::span<int64_t> values) = 0;
  // Caveats found in the rows; called after the last one.
  virtual std::vector<std::string> notes() const { return {}; }
};

struct RunData {
  Manifest manifest;   // write_run_folder sets its id and duration
  std::string source;  // the tool that recorded the columns
  std::vector<ColumnData> columns;
  std::vector<MissingMetric> missing;
  std::vector<Event> events;
  std::string host_json = "{}";
  std::unique_ptr<RowSource> rows;
};

struct WrittenRun {
  std::string path;
  Manifest manifest;
  int64_t rows = 0;
};

// Creates `folder` and writes the run into it, synced. After `segment_bytes` the next segment
// begins. After an Error the folder may be left behind with a part of the run.
Result<WrittenRun> write_run_folder(const std::string& folder, const std::string& id,
                                    const RunData& run, size_t segment_bytes = kSegmentBytes);

}  // namespace trainscope
