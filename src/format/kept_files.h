// The folder `kept` of a run: files of the job that `run --keep` copied there.
//
// Guarantees: the names of the copies are ours (0001, 0002, …), so that no name of a job's file
// ever becomes a path in the run; index.json has the original paths and is written last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace trainscope {

inline constexpr std::string_view kKeptFolder = "kept";
inline constexpr std::string_view kKeptIndex = "index.json";
inline constexpr size_t kMaxKeptFiles = 256;
inline constexpr int64_t kMaxKeptBytes = int64_t{64} << 20;

struct KeptFile {
  std::string path;  // as the job named it: for people, never opened
  int64_t bytes = 0;
  int64_t modified_ns = 0;  // CLOCK_REALTIME
};

// A file that matched and was not copied.
struct LeftOutFile {
  std::string path, reason;
};

struct KeptFiles {
  std::vector<KeptFile> files;  // the copy of the first is 0001
  std::vector<LeftOutFile> left_out;
  int64_t left_out_count = 0;  // more than are listed, where there are many
};

// "0001" for the first.
std::string kept_file_name(size_t index);

std::string kept_files_to_json(const KeptFiles& kept);
Result<KeptFiles> kept_files_from_json(std::string_view text);

}  // namespace trainscope
