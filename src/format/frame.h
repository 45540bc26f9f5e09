// Frames: the framing of segments and of the tail file (docs/run-format.md).
//
// Guarantees: what reads back was written completely (CRC-32C); damage never stops a reader and is
// reported with its offset. Limits: a payload of 64 MiB.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/crc32c.h"
#include "base/result.h"

namespace trainscope {

enum class FrameType : uint8_t {
  head = 1,
  schema = 2,
  times = 3,
  columns = 4,
  event = 5,
  info = 6,
  step = 7,
  closing = 8,
  // 9 was never written.
  manifest = 10,
};

inline constexpr uint8_t kFrameZstd = 1;
// Lines of progress that a step frame may hold for each byte of its payload. Lines that differ in a
// digit only are compressed to a third of a byte each; a frame that claims more was made to fill
// memory. Lines that are all alike compress further: their writer leaves them as they are.
inline constexpr uint64_t kReportsPerByte = 8;
inline constexpr uint8_t kFrameStatistics = 2;
inline constexpr size_t kFrameHeaderBytes = 12;
inline constexpr size_t kFileHeaderBytes = 16;
inline constexpr size_t kMaxPayloadBytes = size_t{64} << 20;

// To how many bytes a step frame may decompress: 64 KiB, and 1024 for each byte of its payload.
constexpr size_t most_report_bytes(size_t payload_bytes) {
  return std::min(kMaxPayloadBytes, (size_t{64} << 10) + 1024 * payload_bytes);
}

// The 16 bytes that every file of frames begins with.
std::string file_header();

// Appends one frame to `out`.
void append_frame(std::string& out, FrameType type, uint8_t flags, std::string_view payload);

struct Frame {
  FrameType type{};
  uint8_t flags = 0;
  std::string_view payload;
  size_t offset = 0;
};

struct Damage {
  size_t from = 0, to = 0;  // offsets in the file
  std::string reason;
};

struct FrameScan {
  std::vector<Frame> frames;
  std::vector<Damage> damages;
  size_t torn_at = 0;  // where an incomplete last frame begins; 0 when there is none
};

// Why these first bytes of a file are not those of a file of frames that this program reads. A
// beginning of them is good, the file was being made when everything stopped; so are zeros, which a
// power loss leaves.
Status check_file_header(std::string_view first_bytes);

// All frames of a file's bytes, which must outlive the result. An Error only for a wrong file
// header.
Result<FrameScan> scan_frames(std::string_view file);

// A file of frames that is read part by part.
struct FrameBytes {
  size_t size = 0;
  // `length` bytes at `offset`, fewer where the file ends; valid until the next call.
  std::function<Result<std::string_view>(size_t offset, size_t length)> read;
};

// What becomes of the parts of a file, in their order. A frame's payload is valid during the call.
struct FrameVisitor {
  std::function<Status(const Frame&)> frame;
  std::function<void(const Damage&)> damage;
};

// Visits all frames of a file; returns FrameScan::torn_at. What is read at a time is a frame, or
// what a damaged place claims to be one. An Error of the visitor ends it.
Result<size_t> visit_frames(const FrameBytes& file, const FrameVisitor& visitor);

// The payload of the frame that these bytes begin with; an Error when it is not whole.
Result<std::string_view> frame_payload(std::string_view bytes);

}  // namespace trainscope
