// Reading the files that `run --keep` copied into a run.
//
// Guarantees: a file is opened by its number, never by the name that the job gave it, and through
// no link. Limits: its type is inferred from its first bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace trainscope {

struct StoredFile {
  std::string path;  // as the job named it: for people
  int64_t bytes = 0;
  double time_s = 0;  // when it was last changed, from t = 0
  std::string type;   // "image/png", "text/plain", "application/octet-stream"
};

struct StoredFiles {
  std::vector<StoredFile> files;
  int64_t left_out = 0;  // files that matched and were not copied
};

// Of a run whose t = 0 was at `zero_realtime_ns`; none if it kept none, or its index is damaged.
StoredFiles stored_files(const std::string& run_path, int64_t zero_realtime_ns);
// The file of this position in the list.
Result<UniqueFd> open_stored_file(const std::string& run_path, size_t index);

// "image/png" for bytes that begin so.
std::string_view file_type(std::string_view first_bytes);

}  // namespace trainscope
