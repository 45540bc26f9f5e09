// What GPFS's `mmpmon -p` replies to fs_io_s: a line of keys and values for each file system.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace trainscope {

// A counter of that line, and the series that it becomes.
struct MmpmonCounter {
  std::string_view metric, operation, key;
};
inline constexpr std::array<MmpmonCounter, 8> kMmpmonCounters = {{
    {"gpfs.read.bytes", "", "_br_"},
    {"gpfs.write.bytes", "", "_bw_"},
    {"gpfs.operations", "open", "_oc_"},
    {"gpfs.operations", "close", "_cc_"},
    {"gpfs.operations", "read", "_rdc_"},
    {"gpfs.operations", "write", "_wc_"},
    {"gpfs.operations", "readdir", "_dir_"},
    {"gpfs.operations", "inode_update", "_iu_"},
}};

struct MmpmonLine {
  std::string_view fs;
  std::array<int64_t, kMmpmonCounters.size()> values;  // kAbsent where the line has none
};
// Nothing if the line does not name a file system.
std::optional<MmpmonLine> parse_mmpmon(std::string_view line);

}  // namespace trainscope
