// TensorBoard event files that the job writes, followed while they grow.
//
// Found in the folders of --tensorboard and among the files that the job has open. Guarantees: what
// an earlier training left there is not taken for this one's, and what this one writes is taken
// whatever its clock shows: what counts is when bytes come, and dates only where that is not known.
// A damaged file is left at the damage; that, and everything else that is not read, is told once.
// Limits: looked at every half second; records over 4 MiB (graphs, pictures) are skipped;
// kMaxEventFiles, the newest. Runs on a thread of its own: a file system that hangs costs these
// steps alone.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "record/event_clock.h"
#include "record/event_file_search.h"
#include "record/progress.h"
#include "tfrecord/tfrecord.h"

namespace trainscope {

class EventFiles {
 public:
  struct Clock {
    int64_t zero_realtime_ns = 0;  // of t = 0
    int64_t since_zero_ns = 0;     // now
  };
  using EventSink = std::function<void(const std::string& text)>;

  // `memory` is where a recorder that is restarted finds how far its predecessor has read.
  EventFiles(std::vector<std::string> folders, ProgressSink& sink, SharedMemory memory,
             EventSink event_sink)
      : folders_(std::move(folders)),
        sink_(sink),
        memory_(memory),
        event_sink_(std::move(event_sink)) {}

  // Looks for new files in what these processes have open.
  void find_open(const std::vector<pid_t>& processes, int64_t zero_realtime_ns);
  // Looks for new files in the folders. What was there at the first time and has not grown is an
  // earlier training's. `may_go_on` is called again and again meanwhile, and may call all but this;
  // false: the search is given up, as if it had not been.
  void find_in_folders(int64_t zero_realtime_ns, const std::function<bool()>& may_go_on = {});
  bool has_some() const { return !files_.empty(); }
  // Takes what is new in all of them.
  void read(const Clock& clock);
  // At the end: takes what is left, first of the files that are known, for the search may take
  // longer than there is. Tells of files of which it is not known whether they are this training's.
  void finish(const std::vector<pid_t>& processes, const Clock& clock);

 private:
  using Key = std::pair<dev_t, ino_t>;  // one file may have several paths
  struct Age {
    off_t earlier_bytes = 0;   // were there at the first search
    off_t doubtful_bytes = 0;  // were, or may have been where that search was cut short
  };
  struct File {
    Key key;
    std::string path, folder;
    UniqueFd fd;
    off_t offset = 0;      // of what comes next from the disk
    std::string unread;    // bytes of a record whose end has not come
    uint64_t to_skip = 0;  // of a record that is too large
    bool is_damaged = false;

    Age age;
    bool is_own = false;  // an event of this training has come: all that follow are its too
    EventClock clock;
    LiveWriter writer;
    std::optional<int64_t> undecided_ns;  // newest date of this look that may be another training's
    SharedEventFile* memory = nullptr;
  };
  struct Event {
    off_t offset = 0;
    int64_t date_ns = 0;  // since t = 0, by the writer's clock
    ScalarEvent scalars;
  };
  void consider(const FoundEventFile& found, int64_t zero_realtime_ns);
  void add(const FoundEventFile& found, const Age& age, SharedEventFile* memory);
  SharedEventFile* remembered(const Key& key) const;
  void remember(File& file);
  void read_file(File& file, const Clock& clock);
  void read_new(File& file, const Clock& clock);
  // Takes whole records off the front of file.unread.
  std::vector<Event> take_records(File& file, int64_t zero_realtime_ns);
  void take_events(File& file, const std::vector<Event>& events, int64_t now_ns);
  void report_undecided();
  void report_once(const std::string& text);

  std::vector<std::string> folders_;
  ProgressSink& sink_;
  SharedMemory memory_;
  EventSink event_sink_;
  std::map<Key, File> files_;
  std::map<Key, off_t> earlier_;  // files that were there at the first search, and their size
  bool has_searched_ = false, knows_earlier_ = true;
  std::set<std::string> reported_;
};

}  // namespace trainscope
