// Looks for TensorBoard event files in a folder and in what processes have open.
//
// Guarantees: what was written to last is found first, so that a limit costs old files. Limits:
// kMaxSearchedEntries of a folder and all below it; links to folders are not followed.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace trainscope {

inline constexpr size_t kMaxSearchedEntries = 100'000;

struct FoundEventFile {
  std::string path;
  dev_t device = 0;
  ino_t inode = 0;
  int64_t written_ns = 0;  // on the clock of the file system
  off_t size = 0;
};

struct EventFileSearch {
  std::vector<FoundEventFile> found;  // those of one folder: the newest first
  bool is_complete = true;            // false: a folder has more entries than were looked at

  void search_folder(const std::string& folder, size_t max_entries = kMaxSearchedEntries);
  void search_process(pid_t pid);
};

}  // namespace trainscope
