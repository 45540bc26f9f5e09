// The files of a run folder: which are ours, and how they are read safely.
//
// Guarantees: only regular files are read (a FIFO or a device in a run folder cannot stall a
// reader). Of the files of a run, the tail included, 16 MiB are held in memory, or 256 KiB for a
// reader that wants little to be held; small files (4 KiB) always are. Others are read in parts:
// 512 KiB, or a frame where that is longer (64 MiB at most), also after a damaged place. A run of
// up to 16 MiB is not read a second time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "format/format.h"
#include "model/model.h"
#include "model/training.h"
#include "store/read/footprint.h"

namespace trainscope {

// The first ten characters look like a run's id and the name ends there or continues after a
// separator.
bool is_run_folder_name(std::string_view name);

// A file whose parts are read when they are needed.
struct DiskFile {
  std::string path;
  size_t size = 0;
  UniqueFd fd;  // none: it is opened for each part
};

struct RunFile {
  std::string name;
  std::string bytes;  // all of it, unless it is on_disk
  std::shared_ptr<const DiskFile> on_disk = nullptr;

  size_t size() const { return on_disk ? on_disk->size : bytes.size(); }
  // `length` bytes at `offset`, fewer where the file ends: in `buffer` when they come from the
  // disk.
  Result<std::string_view> read(size_t offset, size_t length, std::string& buffer) const;
  // For one pass from the beginning to the end. The file must outlive it.
  FrameBytes frames() const;
};

// Where a frame is.
struct FramePlace {
  const RunFile* file = nullptr;
  uint64_t offset = 0;
  uint32_t length = 0;  // of its payload
  uint8_t flags = 0;

  // In `buffer` when it comes from the disk, where it may have changed: its sum is checked again.
  // An Error names file and offset.
  Result<std::string_view> payload(std::string& buffer) const;
};

// The files of a run, which a RunView reads from.
struct RunFiles {
  std::string path;
  Manifest manifest;
  RunStatus status = RunStatus::ended;
  std::vector<RunFile> segments;   // in order of their numbers
  RunFile tail;                    // no name when there is none
  bool is_training_known = false;  // the frames of reports need not be read
  size_t most_gaps = SIZE_MAX;     // that are listed, and as many of their events
};

// `ends`: of long files the beginning and the end, of many segments the first and the last ones, so
// that one line about a run takes little memory however large it is. What is left out looks like
// damage.
enum class Extent { all, ends };

// `tail` is opened before the segments: a block that is sealed in between is read twice
// rather than missed.
Result<RunFiles> load_run_files(const std::string& run_path, Extent extent = Extent::all,
                                Footprint footprint = Footprint::usual);

// Makes the training of a run from the frames that hold its reports.
using TrainingSource = std::function<Result<Training>(
    std::span<const FramePlace> report_frames, double duration_s, std::span<const Event> events)>;

// The view over files that were loaded; open_run is load_run_files and this.
Result<std::unique_ptr<RunView>> view_run(RunFiles files, TrainingSource training = nullptr);

}  // namespace trainscope
