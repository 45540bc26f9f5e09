// Searches for TensorBoard event files in a folder and among the open files of processes.
//
// Guarantees: the most recently written files are found first, so that a limit drops old files.
// Limits: kMaxSearchedEntries of a folder and everything below it; links to folders are not
// followed.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
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
  bool is_complete = true;            // false: a folder has more entries than were examined
  // Called repeatedly while a folder is searched; false: stop, and ignore what was found.
  std::function<bool()> may_go_on;
  bool was_left = false;

  void search_folder(const std::string& folder, size_t max_entries = kMaxSearchedEntries);
  void search_process(pid_t pid);
};

// When to search again: often at first, because a short job might end before its files are found;
// less often if a search is slow, or searching would cost more than all of recording.
class SearchSchedule {
 public:
  // Upper bound of the interval, however slow a search is.
  explicit SearchSchedule(int64_t latest_for_cost_ns) : latest_for_cost_ns_(latest_for_cost_ns) {}

  void searched(int64_t now_ns, int64_t since_zero_ns, int64_t cost_ns);
  int64_t next_ns() const { return next_ns_; }

 private:
  int64_t latest_for_cost_ns_;
  int64_t next_ns_ = 0;  // at once
};

}  // namespace trainscope
