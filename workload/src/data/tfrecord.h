// TFRecord files: where each record lies, and its bytes, checked.
//
// Guarantees: the length and the bytes of a record are checked against their CRC-32C; a file that
// is cut off or damaged is an error that names file and offset. Any thread may read.
// Limits: not compressed; a record of at most 256 MiB.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"

namespace trainscope::workload {

class TfrecordFile {
 public:
  // Reads the lengths of all records, not their bytes.
  static Result<std::shared_ptr<const TfrecordFile>> open(const std::filesystem::path& file);
  ~TfrecordFile();
  TfrecordFile(const TfrecordFile&) = delete;
  TfrecordFile& operator=(const TfrecordFile&) = delete;

  std::size_t count() const { return offsets_.size(); }
  Result<std::vector<std::uint8_t>> read(std::size_t index) const;
  const std::filesystem::path& path() const { return path_; }

 private:
  TfrecordFile(std::filesystem::path path, int descriptor);
  Status index();
  Result<std::uint64_t> length_at(std::uint64_t offset) const;
  Status fill(std::uint64_t offset, std::span<std::uint8_t> bytes) const;
  Error fault(std::uint64_t offset, const std::string& what) const;

  std::filesystem::path path_;
  int descriptor_;
  std::uint64_t size_ = 0;
  std::vector<std::uint64_t> offsets_;  // of the record's header
};

// CRC-32C as TFRecord stores it: rotated and shifted by a constant.
std::uint32_t masked_crc32c(std::span<const std::uint8_t> bytes);

}  // namespace trainscope::workload
