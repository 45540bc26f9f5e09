#include "record/sample/ring.h"

#include <cstring>

#include "base/json.h"

namespace trainscope {

namespace {

size_t padded(size_t bytes) { return (bytes + 7) / 8 * 8; }

}  // namespace

char* Ring::reserve(size_t bytes) {
  const uint64_t capacity = memory_->ring_capacity;
  uint64_t head = memory_->ring_head.load(std::memory_order_relaxed);
  if (bytes > capacity / 2) return nullptr;
  // A record does not wrap: the rest of the buffer is padding.
  const uint64_t left = capacity - head % capacity;
  const uint64_t pad = left < bytes ? left : 0;
  if (head + pad + bytes - tail() > capacity) return nullptr;
  if (pad > 0) {
    const RecordHeader header{static_cast<uint32_t>(pad), RecordKind::padding, 0, 0};
    // The rest may be shorter than a header: its first 8 bytes are enough to skip it.
    std::memcpy(memory_.ring_space() + head % capacity, &header, 8);
    head += pad;
    memory_->ring_head.store(head, std::memory_order_release);
  }
  return memory_.ring_space() + head % capacity;
}

void Ring::publish(size_t bytes) {
  const uint64_t head = memory_->ring_head.load(std::memory_order_relaxed);
  memory_->ring_head.store(head + bytes, std::memory_order_release);
}

bool Ring::push_row(uint32_t stream, int64_t tick, int64_t late_us,
                    std::span<const int64_t> values) {
  const std::lock_guard lock(push_mutex_);
  const size_t bytes = sizeof(RowRecord) + values.size_bytes();
  char* at = reserve(bytes);
  if (at == nullptr) return false;
  const RowRecord row{{static_cast<uint32_t>(bytes), RecordKind::row, stream, 0}, tick, late_us};
  std::memcpy(at, &row, sizeof row);
  if (!values.empty()) std::memcpy(at + sizeof row, values.data(), values.size_bytes());
  publish(bytes);
  return true;
}

bool Ring::push_schema(uint32_t stream, uint32_t schema, uint32_t columns, uint32_t slot,
                       uint32_t slots, std::string_view json) {
  const std::lock_guard lock(push_mutex_);
  const size_t bytes = padded(sizeof(SchemaRecord) + json.size());
  char* at = reserve(bytes);
  if (at == nullptr) return false;
  const SchemaRecord record{{static_cast<uint32_t>(bytes), RecordKind::schema, stream,
                             static_cast<uint32_t>(json.size())},
                            schema,
                            columns,
                            slot,
                            slots};
  std::memcpy(at, &record, sizeof record);
  std::memcpy(at + sizeof record, json.data(), json.size());
  publish(bytes);
  return true;
}

bool Ring::push_text(RecordKind kind, std::string_view json) {
  const std::lock_guard lock(push_mutex_);
  const size_t bytes = padded(sizeof(TextRecord) + json.size());
  char* at = reserve(bytes);
  if (at == nullptr) return false;
  const TextRecord record{
      {static_cast<uint32_t>(bytes), kind, 0, static_cast<uint32_t>(json.size())}};
  std::memcpy(at, &record, sizeof record);
  std::memcpy(at + sizeof record, json.data(), json.size());
  publish(bytes);
  return true;
}

uint64_t Ring::visit(uint64_t position,
                     const std::function<bool(const RecordHeader&)>& visit) const {
  const uint64_t end = head();
  while (position < end) {
    const char* at = memory_.ring_space() + position % capacity();
    uint32_t bytes = 0;
    std::memcpy(&bytes, at, sizeof bytes);
    const auto* header = reinterpret_cast<const RecordHeader*>(at);
    const bool is_whole = bytes >= 8 && position + bytes <= end;
    const bool is_padding = is_whole && header->kind == RecordKind::padding;
    const bool is_record =
        is_whole && bytes >= sizeof(RecordHeader) && header->stream < kMaxStreams;
    if (!is_padding && !is_record) {
      // A record is published whole, so something else wrote here. What follows cannot be found.
      memory_->ring_is_damaged = 1;
      return end;
    }
    if (!is_padding && !visit(*header)) return position;
    position += bytes;
  }
  return position;
}

bool push_event(Ring& ring, int64_t time_ns, const std::string& kind, const std::string& text) {
  const Json event = {{"time_ns", time_ns}, {"kind", kind}, {"text", text}};
  return ring.push_text(RecordKind::event, dump_json(event));
}

}  // namespace trainscope
