// Where everything of a run is: schemas, and per stream the blocks of rows in order of ticks; and
// what is known of the run without its values.
//
// Guarantees: a row is in it once, ticks increase within a stream, every columns frame belongs to
// rows that are there; what could not be placed is in `damages` with file and offset. Every frame
// is checked and its statistics are decoded once. Memory grows with blocks and columns, not with
// rows and values. Limits: it points into RunFiles, which must outlive it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "format/format.h"
#include "model/model.h"
#include "store/read/column_summary.h"
#include "store/read/event_list.h"
#include "store/read/files.h"
#include "store/read/lateness.h"
#include "store/read/missed_ticks.h"

namespace trainscope {

struct ColumnsFrame {
  const StoredSchema* schema = nullptr;
  FramePlace place;
};

struct StoredBlock {
  FramePlace times;
  size_t rows = 0;
  size_t begin = 0, end = 0;  // the rows that count: others are elsewhere too, or after the end
  int64_t front_tick = 0, back_tick = 0;  // of all rows
  RowTime first, last;                    // of the rows that count
  std::vector<ColumnsFrame> columns;

  bool is_empty() const { return begin == end; }
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
  std::vector<int64_t> values;  // one per column, kAbsent where absent
};

// Something that could not be read, and how many blocks of stream 0 are before it.
struct IndexDamage {
  std::string text;  // names file and offset
  size_t blocks_before = 0;
  int64_t unlisted = 0;  // how many more are at the same place, beyond kMaxListedDamages
};

// So many are listed one by one. Of the others only the first at each place between two blocks is
// listed: a file may consist of nothing but damaged frames.
inline constexpr size_t kMaxListedDamages = 1000;

// Fewer missed ticks in a row are not a gap.
inline constexpr int64_t kGapTicks = 3;

struct RunIndex {
  std::map<uint64_t, StoredSchema> schemas;  // by StoredSchema::number, which is also their order
  std::map<uint64_t, SchemaSummary> summaries;  // by the same number
  std::map<uint64_t, StoredStream> streams;
  std::map<uint64_t, Closing> closings;  // by schema
  RunEvents events;
  std::vector<FramePlace> report_frames;  // in the order in which they were written
  LatenessCounts lateness;                // of stream 0
  std::vector<MissedTicks> missed;        // of stream 0, kGapTicks or more, in order of ticks
  int64_t left_out_missed = 0;            // shorter ones that are not listed
  std::vector<IndexDamage> damages;       // in order of blocks_before
  std::vector<IndexDamage> cuts;          // files that end within a frame, in the same order
  std::string host_json = "{}";
  int64_t incarnations = 0;
  int64_t value_bytes = 0;  // of segments and tail, without reported progress
};

// Rows after the end that the manifest states do not count. An Error only for a file that is not
// one of ours or that claims more than it can hold; it names the file and the offset.
Result<RunIndex> index_run(const RunFiles& files);

}  // namespace trainscope
