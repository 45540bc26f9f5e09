// Runs that are open, so that the next question of the same run is answered at once.
//
// Guarantees: a run is read by one thread at a time however many ask for it; one that is being
// recorded is read again at most once a second, and only so often that it takes a twentieth of a
// core. One that has ended is read again when its manifest was replaced (`edit`, its verdict). At
// most kMostOpen runs are held; what was not used for longest is closed. A run is found by
// its id among the folders of the home. Limits: of a run that is being recorded, numbers that the
// job reported may be some seconds older than its samples.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/result.h"
#include "document/document.h"
#include "store/store.h"

namespace trainscope {

// How long a run that is being recorded is not read again after reading it took so much time of a
// processor: a second, and so long that it takes a twentieth of a core.
int64_t pause_after_reading_ns(int64_t cpu_ns);

// Which file the manifest of a run is: it is never changed, only replaced. "" without one.
std::string manifest_version(const std::string& path);

class OpenedRuns {
 public:
  static constexpr size_t kMostOpen = 4;

  // `named`: folders of runs outside the home, by id.
  OpenedRuns(std::string home, std::map<std::string, std::string> named);

  // The folder of a run, or nothing if there is none of this id.
  std::optional<std::string> find(const std::string& id);

  // What is wanted of a run that is being recorded.
  enum class Wanted {
    samples,  // as new as it can be; its reported numbers may be missing
    reports,  // with everything that the job reported
  };
  // `path` as find() gives it. An Error if it cannot be read.
  using Run = std::shared_ptr<const RunView>;
  Result<Run> open(const std::string& id, const std::string& path, Wanted wanted);

  // Of an opened run; read once, and again when the run was read again.
  Result<std::shared_ptr<const OutputIndex>> output(const std::string& id, const Run& run);

 private:
  struct Reading {
    Run run;
    int64_t due_ns = 0;    // when a run that is being recorded is read again
    std::string manifest;  // which one it was read with
  };
  struct Entry {
    std::mutex mutex;  // held while the run is read
    Reading samples, reports;
    std::unique_ptr<RunFollower> follower;
    std::shared_ptr<const OutputIndex> output;
    Run output_of;
  };
  std::optional<std::string> known_path(const std::string& id);
  std::shared_ptr<Entry> entry_of(const std::string& id);
  static bool is_current(const Reading& reading, const std::string& path);
  static Result<Run> read_samples(Entry& entry, const std::string& path);

  const std::string home_;
  const std::map<std::string, std::string> named_;
  std::mutex mutex_;
  std::map<std::string, std::string> paths_;  // of runs that were found, by id
  std::list<std::pair<std::string, std::shared_ptr<Entry>>> entries_;  // the last used first
};

}  // namespace trainscope
