// TensorBoard event files that the job writes, followed while they grow.
//
// Found in the folders of --tensorboard and among the files that the job has open. Guarantees: what
// an earlier training left there is not taken for this one's (events are dated); a damaged file is
// left at the damage and told once. Limits: looked at every half second; records over 4 MiB
// (graphs, pictures) are skipped. Runs on a thread of its own: a file system that hangs costs these
// steps alone.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/fd.h"
#include "record/progress.h"

namespace trainscope {

class EventFiles {
 public:
  struct Clock {
    int64_t zero_realtime_ns = 0;  // of t = 0
    int64_t since_zero_ns = 0;     // now
  };
  using Tell = std::function<void(const std::string& text)>;

  EventFiles(std::vector<std::string> folders, ProgressSink& sink, Tell tell)
      : folders_(std::move(folders)), sink_(sink), tell_(std::move(tell)) {}

  // Looks for new files in the folders and in what these processes have open. What has not been
  // written to since t = 0 is an earlier training's.
  void find(const std::vector<pid_t>& processes, int64_t zero_realtime_ns);
  bool has_some() const { return !files_.empty(); }
  // Takes what is new in all of them.
  void read(const Clock& clock);

 private:
  struct File {
    std::string path, folder;
    UniqueFd fd;
    off_t offset = 0;      // of what comes next from the disk
    std::string unread;    // bytes of a record whose end has not come
    uint64_t to_skip = 0;  // of a record that is too large
    bool is_damaged = false;
  };
  void add(const std::string& path);
  void find_in_folder(const std::string& folder, int64_t zero_realtime_ns);
  void find_in_process(pid_t pid);
  void read_file(File& file, const Clock& clock);
  // Takes whole records off the front of file.unread.
  void take_records(File& file, const Clock& clock, ProgressSink::Batch& batch);
  void take_event(const File& file, std::string_view data, const Clock& clock,
                  ProgressSink::Batch& batch);

  std::vector<std::string> folders_;
  ProgressSink& sink_;
  Tell tell_;
  std::map<std::string, File> files_;  // by device and inode: one file may have several paths
};

}  // namespace trainscope
