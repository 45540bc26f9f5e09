#include "store/read/column_cache.h"

#include <fmt/format.h>

namespace trainscope {

namespace {

Error at_place(const Error& error, const FramePlace& place) {
  return error.with_context(fmt::format("{}: frame at offset {}", place.file->name, place.offset));
}

}  // namespace

Result<ColumnCache::Body> ColumnCache::unpack(const ColumnsFrame& frame) {
  std::string buffer;
  TS_TRY(const std::string_view payload, frame.place.payload(buffer));
  const uint8_t flags = frame.place.flags;
  const size_t columns = frame.schema->columns.size();
  auto plain = std::make_shared<Plain>();
  const auto fill = [&]() -> Status {
    TS_TRY(const ColumnsHeader header, decode_columns_header(payload, flags, frame.schema->totals));
    TS_TRY(plain->body, plain_body(header, flags, columns));
    TS_TRY(plain->offsets, column_offsets(plain->body, header.rows, columns));
    return {};
  };
  const Status filled = fill();
  if (!filled) return at_place(filled.error(), frame.place);
  return Body(std::move(plain));
}

// Makes space for something new; the lock is held.
void ColumnCache::account(size_t bytes) {
  if (bytes_ + bytes > limit_bytes_) {
    bodies_.clear();
    rows_.clear();
    bytes_ = 0;
  }
  bytes_ += bytes;
}

Result<ColumnCache::Body> ColumnCache::body(const ColumnsFrame& frame) {
  const Key key(frame.place.file, frame.place.offset);
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = bodies_.find(key); found != bodies_.end()) return found->second;
  }
  TS_TRY(Body plain, unpack(frame));
  const std::lock_guard lock(mutex_);
  account(plain->body.size() + plain->offsets.size() * sizeof(uint32_t));
  bodies_[key] = plain;
  return plain;
}

Result<ColumnCache::Rows> ColumnCache::times(const StoredBlock& block) {
  const Key key(block.times.file, block.times.offset);
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = rows_.find(key); found != rows_.end()) return found->second;
  }
  std::string buffer;
  TS_TRY(const std::string_view payload, block.times.payload(buffer));
  auto times = decode_times(payload);
  if (!times) return at_place(times.error(), block.times);
  if (times->rows.size() != block.rows) return at_place(Error("it has changed"), block.times);
  auto rows = std::make_shared<const std::vector<RowTime>>(std::move(times->rows));
  const std::lock_guard lock(mutex_);
  account(rows->size() * sizeof(RowTime));
  rows_[key] = rows;
  return rows;
}

Status ColumnCache::read(const ColumnsFrame& frame, size_t column, std::span<int64_t> out) {
  TS_TRY(const Body plain, body(frame));
  const Status decoded = decode_column(plain->body, plain->offsets[column], out);
  if (!decoded) return at_place(decoded.error(), frame.place);
  return {};
}

}  // namespace trainscope
