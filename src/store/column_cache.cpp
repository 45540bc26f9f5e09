#include "store/column_cache.h"

#include <fmt/format.h>

namespace trainscope {

Result<std::shared_ptr<const ColumnCache::Plain>> ColumnCache::unpack(const ColumnsFrame& frame) {
  TS_TRY(const ColumnsHeader header,
         decode_columns_header(frame.payload, frame.flags, frame.schema->totals));
  auto plain = std::make_shared<Plain>();
  TS_TRY(plain->body, plain_body(header, frame.flags, frame.schema->columns.size()));
  TS_TRY(plain->offsets, column_offsets(plain->body, header.rows, frame.schema->columns.size()));
  return std::shared_ptr<const Plain>(std::move(plain));
}

Result<std::shared_ptr<const ColumnCache::Plain>> ColumnCache::get(const ColumnsFrame& frame) {
  const void* key = frame.payload.data();
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = plain_.find(key); found != plain_.end()) return found->second;
  }
  TS_TRY(auto plain, unpack(frame));
  const size_t size = plain->body.size() + plain->offsets.size() * sizeof(uint32_t);
  const std::lock_guard lock(mutex_);
  if (bytes_ + size > limit_bytes_) {
    plain_.clear();
    bytes_ = 0;
  }
  if (plain_.emplace(key, plain).second) bytes_ += size;
  return plain;
}

Status ColumnCache::read(const ColumnsFrame& frame, size_t column, std::span<int64_t> out) {
  const auto named = [&](const Error& error) {
    return error.with_context(fmt::format("{}: frame at offset {}", frame.file, frame.offset));
  };
  const auto plain = get(frame);
  if (!plain) return named(plain.error());
  const Status decoded = decode_column((*plain)->body, (*plain)->offsets[column], out);
  if (!decoded) return named(decoded.error());
  return {};
}

}  // namespace trainscope
