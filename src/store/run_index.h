// Where everything of a run stands: schemas, and per stream the blocks of rows in order of ticks.
//
// Guarantees: a row is in it once, ticks increase within a stream, every columns frame belongs to
// rows that are there; what could not be placed is in `damages` with file and offset. Limits: it
// points into the bytes of RunFiles, which must outlive it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/model.h"
#include "store/codec.h"
#include "store/files.h"
#include "store/schema.h"
#include "training/training.h"

namespace trainscope {

struct ColumnsFrame {
  const StoredSchema* schema = nullptr;
  uint8_t flags = 0;
  std::string_view payload;
  std::string_view file;  // where it stands, for errors
  size_t offset = 0;
};

struct StoredBlock {
  std::vector<RowTime> rows;
  size_t begin = 0, end = 0;  // the rows that count: others are elsewhere too, or after the end
  std::vector<ColumnsFrame> columns;

  bool whole() const { return begin == 0 && end == rows.size(); }
};

struct StoredStream {
  int64_t period_ns = 0;
  std::vector<StoredBlock> blocks;

  double time_s(const RowTime& row) const {
    return static_cast<double>(row.tick * period_ns + row.late_us * 1000) / 1e9;
  }
};

// Values read once after the job's end, per schema.
struct Closing {
  double time_s = 0;
  std::vector<int64_t> values;  // one a column, kNoValue where absent
};

struct StatusChange {
  std::string metric;
  Labels labels;
  SeriesStatus status = SeriesStatus::ok;
  std::string reason;
};

// Something that could not be read, and how many blocks of stream 0 stood before it.
struct IndexDamage {
  std::string text;  // names file and offset
  size_t blocks_before = 0;
};

struct RunIndex {
  std::map<uint64_t, StoredSchema> schemas;  // by StoredSchema::number, which is also their order
  std::map<uint64_t, StoredStream> streams;
  std::map<uint64_t, Closing> closings;  // by schema
  std::vector<StatusChange> status_changes;
  std::vector<Event> events;  // by time
  int64_t unreadable_reports = 0;
  std::vector<StoredReport> reports;  // in the order in which they were kept
  std::vector<IndexDamage> damages;
  std::string host_json = "{}";
  int64_t incarnations = 0;
  int64_t value_bytes = 0;  // of segments and tail, without what the job told

  // Rows after the run's end do not count.
  void drop_rows_after(double duration_s);
};

// An Error only for a file that is not one of ours or that claims more than it can hold; it names
// the file and the offset.
Result<RunIndex> index_run(const RunFiles& files);

}  // namespace trainscope
