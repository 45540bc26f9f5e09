// `run --keep GLOB`: copies files that the job made into the run folder (docs/run-format.md).
//
// Guarantees: the job's files are only read; nothing is followed (file_search.h); the copies are
// bounded in number and size, and do not fill the disk. What is left out has a reason. Limits: may
// hang with either file system, so only a child process calls it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "format/format.h"

namespace trainscope {

struct FilesToKeep {
  std::string run_path;
  std::string working_directory;  // of the job; "": unknown
  std::vector<std::string> patterns;
};

struct KeepLimits {
  size_t files = kMaxKeptFiles;
  int64_t bytes = kMaxKeptBytes;
  int64_t free_bytes = int64_t{16} << 20;  // that stay free on the disk
};

struct KeepResult {
  KeptFiles kept;
  std::vector<std::string> problems;  // of patterns: "'out/*.png' matches no file"
};

// Copies the files and writes their index; an Error if there is no folder for them.
Result<KeepResult> keep_files(const FilesToKeep& wanted, const KeepLimits& limits = {});
// What the user should know of it, in one line; "" if everything was copied.
std::string keep_warning(const KeepResult& result);

}  // namespace trainscope
