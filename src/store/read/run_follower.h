// Reads a run while it is recorded, without reading again what was read before.
//
// Guarantees: every row is in the whole run or in one of the parts that follow; a part also has
// rows from before, as many as derived metrics need. A poll reads the manifest, the tail and what
// was appended to segments; nothing watches files, so a run on NFS can be followed too. Limits: the
// steps of a part are not the run's: they are made from all reports.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/model.h"

namespace trainscope {

struct Frame;
struct RunFile;

class RunFollower {
 public:
  explicit RunFollower(std::string run_path);
  ~RunFollower();

  // The whole run as it is now; parts continue from here.
  Result<std::unique_ptr<RunView>> open();
  // What was written since the last call; null if nothing was.
  Result<std::unique_ptr<RunView>> read_new();
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

  std::string path_;
  Manifest manifest_;
  RunStatus status_ = RunStatus::running;
  std::string tail_;                         // as it was read last
  std::map<int, size_t> read_bytes_;         // of each segment, by its number
  std::map<uint64_t, KnownSchema> schemas_;  // by number
  std::map<uint64_t, CarriedBlock> blocks_;  // by stream
  uint64_t stream_ = 0;                      // of the block that is being read
  std::string host_json_;
};

}  // namespace trainscope
