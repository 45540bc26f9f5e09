// A TFRecord file of samples: where each record is, and its bytes, checked.
//
// Guarantees: the length and the bytes of a record are checked against their CRC-32C; a file that
// is cut off or damaged is an error that names file and offset. Any thread may read.
// Limits: not compressed; a record of at most 256 MiB.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace trainscope::workload {

class TfrecordFile {
 public:
  // Reads the lengths of all records, not their bytes.
  static Result<std::shared_ptr<const TfrecordFile>> open(const std::filesystem::path& file);

  std::size_t count() const { return offsets_.size() - 1; }
  Result<std::string> read(std::size_t index) const;
  const std::filesystem::path& path() const { return path_; }

 private:
  TfrecordFile(std::filesystem::path path, UniqueFd descriptor);
  Status index(std::uint64_t size);
  Status fill(std::uint64_t offset, std::span<char> bytes) const;
  Error fault(std::uint64_t offset, const std::string& what) const;

  std::filesystem::path path_;
  UniqueFd descriptor_;
  std::vector<std::uint64_t> offsets_{0};  // where each record begins, and where the last one ends
};

}  // namespace trainscope::workload
