// Looks for TensorBoard event files in a folder and in what processes have open.
//
// Guarantees: what was written to last is found first, so that a limit costs old files. Limits:
// kMaxSearchedEntries of a folder and all below it; links to folders are not followed.
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
  bool is_complete = true;            // false: a folder has more entries than were looked at
  // Asked again and again while a folder is searched; false: leave it, what is found does not
  // count.
  std::function<bool()> may_go_on;
  bool was_left = false;

  void search_folder(const std::string& folder, size_t max_entries = kMaxSearchedEntries);
  void search_process(pid_t pid);
};

// When to search again. Often at first, when a short job might be over before it is looked at; what
// costs much less often, or the search alone would cost more than all of recording.
class SearchSchedule {
 public:
  // However much it costs, it is not put off for longer than this.
  explicit SearchSchedule(int64_t latest_for_cost_ns) : latest_for_cost_ns_(latest_for_cost_ns) {}

  void searched(int64_t now_ns, int64_t since_zero_ns, int64_t cost_ns);
  int64_t next_ns() const { return next_ns_; }

 private:
  int64_t latest_for_cost_ns_;
  int64_t next_ns_ = 0;  // at once
};

}  // namespace trainscope
