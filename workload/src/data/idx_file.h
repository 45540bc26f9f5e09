// Reads IDX files (the format of MNIST and Fashion-MNIST), plain or gzip, of unsigned bytes.
//
// Guarantees: what is returned has exactly the bytes its dimensions ask for. A file that is
// truncated, damaged, too long or of another type is an error that names the file and the offset
// (in the unpacked stream). A header that promises more than the file holds costs no memory.
// Limits: element type 0x08 only; at most 1 GiB of elements; whole file in memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "base/result.h"

namespace trainscope::workload {

struct IdxArray {
  std::vector<std::uint32_t> dimensions;
  std::vector<std::uint8_t> bytes;
};

// `rank` is the number of dimensions the caller expects: 3 for images, 1 for labels.
Result<IdxArray> read_idx(const std::filesystem::path& file, std::size_t rank);

}  // namespace trainscope::workload
