// Decompressed blocks, kept while there is room, so that reading series after series decompresses
// each block once.
//
// Guarantees: may be used from several threads. Limits: when it is full it starts anew.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "store/run_index.h"

namespace trainscope {

class ColumnCache {
 public:
  explicit ColumnCache(size_t limit_bytes = size_t{256} << 20) : limit_bytes_(limit_bytes) {}

  // The raw values of one column, one a row of the block. An Error names file and offset.
  Status read(const ColumnsFrame& frame, size_t column, std::span<int64_t> out);

 private:
  struct Plain {
    std::string body;
    std::vector<uint32_t> offsets;
  };
  static Result<std::shared_ptr<const Plain>> unpack(const ColumnsFrame& frame);
  Result<std::shared_ptr<const Plain>> get(const ColumnsFrame& frame);

  const size_t limit_bytes_;
  std::mutex mutex_;
  size_t bytes_ = 0;
  std::unordered_map<const void*, std::shared_ptr<const Plain>> plain_;  // by where the payload is
};

}  // namespace trainscope
