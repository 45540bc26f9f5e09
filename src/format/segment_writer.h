// Writes a run's segments and its tail file (docs/run-format.md).
//
// Guarantees: an append is whole or undone; after an error that cannot be undone a new segment
// begins. A segment that is open has its first frames. The kernel stores what a killed process
// wrote; a power loss costs what was appended since the last sync. Limits: one writer per run.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace trainscope {

// A segment that has so many bytes is full. Readers refuse one of more than 8 GiB.
inline constexpr size_t kSegmentBytes = size_t{64} << 20;

// "samples-0012.seg" is 12; nothing for other names.
std::optional<int> segment_number(std::string_view name);

// The calls that change the files of a run. A test replaces them, to let each of them fail.
class StorageCalls {
 public:
  virtual ~StorageCalls() = default;
  virtual Result<UniqueFd> open(const std::string& path, int flags);
  // Every byte or an error, as write_all.
  virtual Status write(int fd, std::string_view bytes);
  virtual Status truncate(int fd, size_t bytes);
  virtual Status rename(const std::string& from, const std::string& to);
};

class SegmentWriter {
 public:
  explicit SegmentWriter(std::string folder,
                         std::shared_ptr<StorageCalls> calls = std::make_shared<StorageCalls>())
      : folder_(std::move(folder)), calls_(std::move(calls)) {}

  bool is_open() const { return static_cast<bool>(fd_); }
  // Starts samples-NNNN.seg with the first free number from `number` on; returns that number.
  // `first_frames` gives the frames that a segment with its number begins with: on an error there
  // is no segment of that number.
  Result<uint32_t> begin(uint32_t number,
                         const std::function<std::string(uint32_t number)>& first_frames);
  // Appends frames to the segment. On an error nothing of them stays; when even that fails, the
  // segment is closed and is_open() is false.
  Status append(std::string_view frames);
  // Appends frames to the tail file; a new tail file replaces the old one first when `fresh`. On an
  // error nothing of them stays; when even that fails, there is no tail any more. Either way all
  // its rows must be written again.
  Status append_tail(std::string_view frames, bool fresh);
  // For syncing; -1 when there is none. A segment that cannot be synced must be abandoned, a tail
  // replaced.
  int segment_fd() const { return fd_.get(); }
  int tail_fd() const { return tail_fd_.get(); }
  // So much of the segment is on the disk.
  void set_synced(size_t bytes) { synced_bytes_ = bytes; }
  // Closes the segment for good. What is not known to be on the disk is taken back by
  // cut_abandoned(), once a new segment has it: until then this is the only copy in a file.
  void abandon();
  void cut_abandoned();
  // Closes the segment for good and leaves it as it is.
  void leave();
  const std::string& path() const { return path_; }
  int64_t bytes_written() const { return bytes_written_; }
  size_t segment_bytes() const { return good_bytes_; }
  // True when the files were deleted under us.
  bool vanished() const;

 private:
  std::string folder_;
  std::shared_ptr<StorageCalls> calls_;
  UniqueFd fd_, tail_fd_;
  UniqueFd abandoned_fd_;
  size_t abandoned_synced_bytes_ = 0;
  std::string path_;
  size_t good_bytes_ = 0;
  size_t synced_bytes_ = 0;  // so many bytes of the segment are on the disk
  int64_t bytes_written_ = 0;
};

}  // namespace trainscope
