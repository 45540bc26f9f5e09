// The ring of records between sampling and disk, in shared memory.
//
// Guarantees: a record is visible only when it is complete; records that were pushed and not
// released survive the recorder. Several threads may push, one thread reads and releases. A full
// ring refuses: the caller counts the loss. Limits: a record is at most half of the ring.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "record/sample/shared.h"

namespace trainscope {

enum class RecordKind : uint32_t {
  padding = 0,
  row = 1,
  schema = 2,
  event = 3,
  closing = 4,
  info = 5,
  step = 6,  // lines of progress; the first is the number of the second
};

// Precedes every record, which is a multiple of 8 bytes long.
struct RecordHeader {
  uint32_t bytes = 0;  // with this header
  RecordKind kind = RecordKind::padding;
  uint32_t stream = 0;
  uint32_t length = 0;  // length of the text of other kinds
};

struct RowRecord {
  RecordHeader header;
  int64_t tick = 0;
  int64_t late_us = 0;
  // the values follow
  const int64_t* values() const { return reinterpret_cast<const int64_t*>(this + 1); }
  size_t count() const { return (header.bytes - sizeof(RowRecord)) / sizeof(int64_t); }
};

// A schema is announced before the first row that uses it; its JSON text follows.
struct SchemaRecord {
  RecordHeader header;
  uint32_t schema = 0, columns = 0, slot = 0, slots = 0;
  std::string_view text() const { return {reinterpret_cast<const char*>(this + 1), header.length}; }
};

struct TextRecord {
  RecordHeader header;
  std::string_view text() const { return {reinterpret_cast<const char*>(this + 1), header.length}; }
};

class Ring {
 public:
  explicit Ring(SharedMemory memory) : memory_(memory) {}

  bool push_row(uint32_t stream, int64_t tick, int64_t late_us, std::span<const int64_t> values);
  bool push_schema(uint32_t stream, uint32_t schema, uint32_t columns, uint32_t slot,
                   uint32_t slots, std::string_view json);
  bool push_text(RecordKind kind, std::string_view json);

  uint64_t head() const { return memory_->ring_head.load(std::memory_order_acquire); }
  uint64_t tail() const { return memory_->ring_tail.load(std::memory_order_acquire); }
  uint64_t capacity() const { return memory_->ring_capacity; }
  // Visits the records from `position` on; returns where it stopped (the head at entry, or the
  // position of the record for which `visit` returned false). Records from a damaged one on are
  // skipped; ring_is_damaged reports it.
  uint64_t visit(uint64_t position, const std::function<bool(const RecordHeader&)>& visit) const;
  // Records before `position` are on disk.
  void release(uint64_t position) { memory_->ring_tail.store(position, std::memory_order_release); }

 private:
  // Space for a record of this size, or null; publish() makes it visible.
  char* reserve(size_t bytes);
  void publish(size_t bytes);

  SharedMemory memory_;
  std::mutex push_mutex_;
};

// Pushes an event record; false if the ring has no space for it.
bool push_event(Ring& ring, int64_t time_ns, const std::string& kind, const std::string& text);

}  // namespace trainscope
