// Carries the ring's records to the run folder: blocks when they are full, the tail every second.
//
// Guarantees: a record is released from the ring only when it is in a segment; after an error
// nothing is lost but what the ring cannot hold. Runs on one thread. Limits: blocks of kBlockRows
// rows.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "model/model.h"
#include "record/ring.h"
#include "store/codec.h"
#include "store/segment_writer.h"

namespace trainscope {

inline constexpr size_t kBlockRows = 1000;

class Journal {
 public:
  Journal(Ring& ring, SharedMemory memory, std::string run_folder, std::string run_id);

  // Takes what is new in the ring to disk; `seal` closes the open block whatever its size.
  Status flush(bool seal);
  // The tail is not needed any more: the last flush has sealed all there was.
  void close();

 private:
  struct SchemaInfo {
    uint32_t columns = 0;
    std::vector<Totals> totals;
    std::string json;  // repeated at the head of every segment
  };
  struct StreamRows {
    std::vector<const RowRecord*> rows;
    size_t in_tail = 0;  // so many of them are in the tail file
    StreamLayout layout;
  };

  Status drain();
  Status take_schemas();
  Status seal_block();
  Status write_tail();
  Status ensure_segment();
  Status append(const std::string& frames);
  void take(const RecordHeader& header);
  void take_reports(std::string_view text);
  void take_schema(const SchemaRecord& record, std::string& frames);
  void encode_rows(std::string& out, uint32_t stream, size_t from, uint64_t block,
                   bool sealed) const;

  Ring& ring_;
  SharedMemory memory_;
  std::string folder_, run_id_;
  SegmentWriter writer_;
  int64_t counted_bytes_ = 0;
  uint64_t scanned_;
  std::array<StreamRows, kMaxStreams> streams_;
  std::map<uint32_t, SchemaInfo> schemas_;
  std::string info_json_;
  // Lines of progress that are not sealed yet, and the number of the first.
  std::string reports_;
  int64_t first_report_ = 0, reports_count_ = 0;
  size_t reports_in_tail_ = 0;         // so many of these bytes are in the tail file
  int64_t reports_count_in_tail_ = 0;  // and so many lines
  std::string texts_;                  // frames of events and the like, not sealed yet
  size_t texts_in_tail_ = 0;           // so many of these bytes are in the tail file
  uint64_t block_ = 0, tail_block_ = 0;
  bool fresh_tail_ = true;
};

}  // namespace trainscope
