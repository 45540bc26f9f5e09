// TensorBoard event files that the job writes, followed while they grow.
//
// Files are found in the folders of --tensorboard and among the open files of the job. Guarantees:
// events of an earlier training are not taken for this one's, and events of this training are taken
// whatever its clock shows: the arrival of bytes decides, and timestamps only if the arrival is
// unknown. Reading a damaged file stops at the damage; this, and everything else that is skipped,
// is reported once. Limits: files are read every half second; records over 4 MiB (graphs, images)
// are skipped; kMaxEventFiles, the newest. Runs on its own thread: a file system that hangs affects
// only these steps.
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
#include "parse/parse.h"
#include "record/intake/event_clock.h"
#include "record/intake/event_file_search.h"
#include "record/intake/progress.h"

namespace trainscope {

class EventFiles {
 public:
  struct Clock {
    int64_t zero_realtime_ns = 0;  // of t = 0
    int64_t since_zero_ns = 0;     // now
  };
  using EventSink = std::function<void(const std::string& text)>;

  // From `memory`, a restarted recorder learns how far its predecessor has read. Of each folder
  // `max_entries` are searched.
  EventFiles(std::vector<std::string> folders, ProgressSink& sink, SharedMemory memory,
             EventSink event_sink, size_t max_entries = kMaxSearchedEntries)
      : folders_(std::move(folders)),
        sink_(sink),
        memory_(memory),
        event_sink_(std::move(event_sink)),
        max_entries_(max_entries) {}

  // Searches for new files among the open files of these processes.
  void find_open(const std::vector<pid_t>& processes, int64_t zero_realtime_ns);
  // Searches for new files in the folders. A file that existed at the first search and has not
  // grown belongs to an earlier training. `may_go_on` is called repeatedly during the search, and
  // may call everything except this; false: the search is abandoned without effect.
  void find_in_folders(int64_t zero_realtime_ns, const std::function<bool()>& may_go_on = {});
  bool has_some() const { return !files_.empty(); }
  // Takes new events of all files.
  void read(const Clock& clock);
  // At the end: takes the remaining events, first from known files, because the search may take
  // longer than the time left. Reports files that may belong to another training.
  void finish(const std::vector<pid_t>& processes, const Clock& clock);
  // Values of this training whose step number is above kMaxReportNumber: they are left out.
  int64_t values_left_out() const { return values_left_out_; }

 private:
  using Key = std::pair<dev_t, ino_t>;  // one file may have several paths
  struct Age {
    off_t earlier_bytes = 0;  // were there at the first search
    off_t doubtful_bytes =
        0;  // bytes that existed, or may have existed if that search was cut short
  };
  struct File {
    Key key;
    std::string path, folder;
    UniqueFd fd;
    off_t offset = 0;      // of the next bytes to read
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
  size_t max_entries_;
  std::map<Key, File> files_;
  std::map<Key, off_t> earlier_;  // files that were there at the first search, and their size
  bool has_searched_ = false, knows_earlier_ = true;
  std::set<std::string> reported_;
  int64_t values_left_out_ = 0;
};

}  // namespace trainscope
