// Reads a run while it is recorded, without reading again what was read before.
//
// Guarantees: every row is in the whole run or in one of the parts that follow; a part also has
// rows from before, as many as derived metrics need. A poll reads the manifest, the tail and what
// was appended to segments; nothing watches files, so a run on NFS can be followed too. Limits:
// open() reads and checks every byte twice.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/manifest.h"
#include "model/training.h"
#include "store/read/footprint.h"

namespace trainscope {

struct Frame;
struct FramePlace;
struct RunFile;
struct RunFiles;
class RunView;
class TrainingFollower;

// What read_new() gives.
enum class Followed {
  samples,  // the rows of a part; its steps are not the run's
  steps,    // and the steps that became complete since the last call (has_steps)
  run,  // the whole run, whose steps were not read again; of their details only the steps are known
};

class RunFollower {
 public:
  explicit RunFollower(std::string run_path, Followed followed = Followed::samples,
                       Footprint footprint = Footprint::usual);
  ~RunFollower();

  // The whole run as it is now; parts continue from here.
  Result<std::unique_ptr<RunView>> open();
  // What was written since the last call; null if nothing was.
  Result<std::unique_ptr<RunView>> read_new();
  // False if steps are followed and cannot be known from what is new (training/training.h): then,
  // and from then on, they need open() again.
  bool has_steps() const { return has_steps_; }
  // As of the last call. A run that has ended was read completely.
  bool is_running() const { return status_ == RunStatus::running; }

 private:
  // A schema, as frames repeat it, and whether a sealed block uses it.
  struct KnownSchema {
    std::string text;
    bool is_used = false;
  };
  // The last sealed block of a stream.
  struct CarriedBlock {
    std::string frames;
    std::vector<uint64_t> schemas;
  };

  void update_manifest();
  Result<std::string> read_tail() const;
  // Appends to `bytes` the frames that were added to the segments.
  Status read_segments(std::string& bytes);
  // Remembers what later parts need of these frames; returns where the first frame begins that is
  // not complete yet.
  Result<size_t> learn(const RunFile& file);
  void learn_frame(const Frame& frame);
  std::string carried() const;
  Result<RunFiles> read_part_files();
  void add_events(std::span<const Event> events);
  Result<Training> begin_training(std::span<const FramePlace> frames, double duration_s,
                                  std::span<const Event> events);
  Result<Training> add_training(std::span<const FramePlace> frames, double duration_s,
                                std::span<const Event> events);
  Result<std::unique_ptr<RunView>> view_whole();

  const std::string path_;
  const Followed followed_;
  const Footprint footprint_;
  Manifest manifest_;
  RunStatus status_ = RunStatus::running;
  std::string tail_;                         // as it was read last
  std::map<int, size_t> read_bytes_;         // of each segment, by its number
  std::map<uint64_t, KnownSchema> schemas_;  // by number
  std::map<uint64_t, CarriedBlock> blocks_;  // by stream
  uint64_t stream_ = 0;                      // of the block that is being read
  std::string host_json_;
  std::unique_ptr<TrainingFollower> training_follower_;
  Training training_;  // as of the last part
  bool has_steps_ = true;
  int64_t next_report_ = 0;    // the number of the first one that was not read
  int64_t unreadable_ = 0;     // lines that are not reports
  std::vector<Event> events_;  // of the whole run, without those of gaps
};

}  // namespace trainscope
