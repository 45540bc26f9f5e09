// Writes the ring's records to the run folder: blocks when they are full, the tail every second.
//
// Guarantees: a record is released from the ring only when it is in a segment; after an error only
// records that do not fit into the ring are lost. A power loss costs the records of the last
// kSyncNs. After a failed sync the data is written again, to a new segment. Runs on one thread.
// Limits: blocks of kBlockRows rows.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "format/format.h"
#include "model/manifest.h"
#include "record/sample/ring.h"
#include "record/sample/sync_process.h"

namespace trainscope {

inline constexpr size_t kBlockRows = 1000;
// Seldom enough that no disk and no job notices.
inline constexpr int64_t kSyncNs = 10'000'000'000;
// Data kept in memory until it is synced: some seconds of a thousand rows per second. When this is
// full a sync begins, during which up to twice as much may arrive.
inline constexpr size_t kMaxUnsyncedBytes = size_t{4} << 20;

class Journal {
 public:
  // `manifest` is also stored in the segments, in case the file is lost.
  Journal(Ring& ring, SharedMemory memory, std::string run_folder, Manifest manifest,
          std::shared_ptr<StorageCalls> calls = std::make_shared<StorageCalls>());

  // Writes new records of the ring to the run folder, and syncs when it is due.
  Status flush();
  // Closes the open block whatever its size. After an error it may be called again, and continues.
  // Nothing is synced: settle_run does that, off the job's way, and removes the tail.
  Status close();

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

  // Data of the segment that a power loss would cost, kept to be written again.
  struct Unsynced {
    std::string bytes;
    bool is_whole = true;  // false: a part was too large to keep
    bool is_empty() const { return bytes.empty() && is_whole; }
  };
  struct SyncState {
    SyncProcess process;
    Unsynced running;              // data of the running sync
    Unsynced waiting;              // data appended to the segment since that sync began
    size_t running_bytes = 0;      // so much of the segment will be there then
    bool includes_tail = false;    // the running sync
    bool has_new_names = true;     // of files, since that sync began
    bool has_begun = false;        // a first sync
    bool is_tail_safe = false;     // a part of the tail file is on the disk
    int64_t waiting_since_ns = 0;  // arrival of the oldest record that a power loss would cost
    int64_t pause_ns = kSyncNs;    // longer after each failure
  };

  Status drain();
  Status take_schemas();
  Status seal_block();
  Status write_tail();
  void forget_tail();
  Status ensure_segment();
  Status append(const std::string& frames);
  std::string first_frames(uint32_t segment) const;
  std::string manifest_frame() const;
  bool is_synced() const { return sync_.waiting.is_empty() && sync_.running.is_empty(); }
  static Unsynced joined(Unsynced earlier, const Unsynced& later);
  void start_sync_if_due();
  void take_sync_outcome();
  void plan_rewrite(const std::string& reason);
  void append_storage_event(std::string& frames, const std::string& text) const;
  void take(const RecordHeader& header);
  void take_reports(std::string_view text);
  void take_schema(const SchemaRecord& record, std::string& frames);
  void encode_rows(std::string& out, uint32_t stream, size_t from, uint64_t block,
                   bool sealed) const;

  Ring& ring_;
  SharedMemory memory_;
  std::string folder_;
  Manifest manifest_;
  bool is_manifest_written_ = false;  // to this segment
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

  SyncState sync_;
  std::string rewrite_;  // to be written first to the next segment, because an earlier one lost it
};

}  // namespace trainscope
