// Decoded blocks, cached while there is space, so that reading several series of the same time
// decompresses each block once.
//
// Guarantees: may be used from several threads. Limits: when it is full it is emptied, so a
// reader of many blocks reads block by block.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "store/read/run_index.h"

namespace trainscope {

class ColumnCache {
 public:
  using Rows = std::shared_ptr<const std::vector<RowTime>>;

  explicit ColumnCache(size_t limit_bytes = size_t{32} << 20) : limit_bytes_(limit_bytes) {}

  // The raw values of one column, one per row of the block. An Error names file and offset.
  Status read(const ColumnsFrame& frame, size_t column, std::span<int64_t> out);
  // When the rows of a block were read, including rows that do not count.
  Result<Rows> times(const StoredBlock& block);

 private:
  struct Plain {
    std::string body;
    std::vector<uint32_t> offsets;
  };
  using Body = std::shared_ptr<const Plain>;
  using Key = std::pair<const RunFile*, uint64_t>;  // a frame's file and offset
  static Result<Body> unpack(const ColumnsFrame& frame);
  Result<Body> body(const ColumnsFrame& frame);
  void account(size_t bytes);

  const size_t limit_bytes_;
  std::mutex mutex_;
  size_t bytes_ = 0;
  std::map<Key, Body> bodies_;
  std::map<Key, Rows> rows_;
};

}  // namespace trainscope
