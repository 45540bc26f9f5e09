// Reads and writes whole files.
//
// Guarantees: an error names the file and the reason. What is written replaces the old file in one
// step after it is on disk: a reader, or a crash, finds the old one or the new one, never a part.
// Limits: at most 4 GiB, in memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "base/result.h"

namespace trainscope::workload {

Result<std::vector<std::uint8_t>> read_whole_file(const std::filesystem::path& file);

// The pieces one after the other.
Status write_whole_file(const std::filesystem::path& file,
                        std::span<const std::span<const std::uint8_t>> pieces);

}  // namespace trainscope::workload
