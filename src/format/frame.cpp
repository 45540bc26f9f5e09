#include "format/frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace trainscope {

namespace {

constexpr std::string_view kMagic = "TRAINSCP";
constexpr uint32_t kVersion = 1;
constexpr std::string_view kMark = "Ts";

void append_u32(std::string& out, uint32_t value) {
  for (unsigned i = 0; i < 4; ++i) out += static_cast<char>((value >> (8 * i)) & 0xFFU);
}

uint32_t read_u32(std::string_view bytes) {
  uint32_t value = 0;
  for (unsigned i = 0; i < 4; ++i) {
    value |= static_cast<uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  return value;
}

// A power loss leaves zeros where a file had grown and its bytes were not on the disk yet.
bool is_zeros(std::string_view bytes) {
  return bytes.find_first_not_of('\0') == std::string_view::npos;
}

enum class Look { whole, torn, bad };

// Is there a whole valid frame at this place?
Look look_at(std::string_view file, size_t offset, Frame& frame) {
  const std::string_view rest = file.substr(offset);
  if (rest.size() < kFrameHeaderBytes) {
    return kMark.starts_with(rest.substr(0, 2)) ? Look::torn : Look::bad;
  }
  if (rest.substr(0, 2) != kMark) return Look::bad;
  const size_t length = read_u32(rest.substr(4));
  if (length > kMaxPayloadBytes) return Look::bad;
  if (length > rest.size() - kFrameHeaderBytes) return Look::torn;
  const std::string_view payload = rest.substr(kFrameHeaderBytes, length);
  if (crc32c(payload, crc32c(rest.substr(2, 6))) != read_u32(rest.substr(8))) return Look::bad;
  frame = {static_cast<FrameType>(rest[2]), static_cast<uint8_t>(rest[3]), payload, offset};
  return Look::whole;
}

// Sums one may compute while looking for the next frame, in bytes: without a bound a file of marks
// with long lengths after them would take time by the square of its size.
constexpr size_t kMinSearchBytes = size_t{64} << 20;

// What is searched for a mark at a time.
constexpr size_t kSearchedBytes = size_t{64} << 10;

// One pass over a file. A frame is all that is looked at together.
class FrameWalk {
 public:
  FrameWalk(const FrameBytes& file, const FrameVisitor& visitor)
      : file_(file),
        visitor_(visitor),
        size_(file.size),
        search_budget_(std::max(kMinSearchBytes, 4 * file.size)) {}

  Result<size_t> run() {
    TS_CHECK_OK(take_header());
    for (at_ = kFileHeaderBytes; at_ < size_;) {
      Frame frame;
      TS_TRY(const Look look, look_here(frame));
      if (look == Look::whole) {
        TS_CHECK_OK(visitor_.frame(frame));
        at_ += kFrameHeaderBytes + frame.payload.size();
        continue;
      }
      TS_TRY(const size_t next, next_whole(at_ + 1));
      if (look == Look::torn && next == size_) return at_;
      visitor_.damage(
          {at_, next,
           fmt::format("damaged frame at offset {}, {} bytes skipped", at_, next - at_)});
      at_ = next;
    }
    return 0;
  }

 private:
  Status take_header() {
    TS_TRY(const std::string_view header, read(0, kFileHeaderBytes));
    TS_CHECK_OK(check_file_header(header));
    if (header.size() < kFileHeaderBytes) {
      return Error(fmt::format("only {} bytes, shorter than a segment's header", header.size()));
    }
    if (is_zeros(header)) {
      visitor_.damage(
          {0, kFileHeaderBytes, fmt::format("{} zeros in place of the header", kFileHeaderBytes)});
    }
    return {};
  }

  // A file that was cut since its size was asked for ends there.
  Result<std::string_view> read(size_t offset, size_t length) {
    length = std::min(length, size_ - offset);
    TS_TRY(const std::string_view bytes, file_.read(offset, length));
    if (bytes.size() < length) size_ = offset + bytes.size();
    return bytes;
  }

  Result<Look> look_here(Frame& frame) {
    TS_TRY(std::string_view bytes, read(at_, kFrameHeaderBytes));
    const bool has_mark = bytes.size() == kFrameHeaderBytes && bytes.starts_with(kMark);
    const size_t length = has_mark ? read_u32(bytes.substr(4)) : 0;
    if (length > kMaxPayloadBytes) return Look::bad;
    if (length > 0) {
      TS_TRY(bytes, read(at_, kFrameHeaderBytes + length));
    }
    const Look look = look_at(bytes, 0, frame);
    frame.offset = at_;
    return look;
  }

  // The next offset from `from` on where a whole frame begins; the file's size if there is none.
  Result<size_t> next_whole(size_t from) {
    for (size_t at = from; at + kFrameHeaderBytes <= size_; ++at) {
      TS_TRY(std::string_view bytes, read(at, kSearchedBytes));
      const size_t mark = bytes.find(kMark);
      if (mark == std::string_view::npos) {
        at += bytes.size() - std::min<size_t>(bytes.size(), kMark.size());  // its first half may be
        continue;
      }
      at += mark;
      if (at + kFrameHeaderBytes > size_) break;
      TS_TRY(bytes, read(at, kFrameHeaderBytes));
      const size_t length = bytes.size() < kFrameHeaderBytes ? SIZE_MAX : read_u32(bytes.substr(4));
      if (length > kMaxPayloadBytes || length > size_ - at - kFrameHeaderBytes) continue;
      if (length > search_budget_) break;
      search_budget_ -= length;
      TS_TRY(bytes, read(at, kFrameHeaderBytes + length));
      Frame ignored;
      if (look_at(bytes, 0, ignored) == Look::whole) return at;
    }
    return size_;
  }

  const FrameBytes& file_;
  const FrameVisitor& visitor_;
  size_t size_, at_ = 0;
  size_t search_budget_;
};

}  // namespace

std::string file_header() {
  std::string header(kMagic);
  append_u32(header, kVersion);
  append_u32(header, 0);
  return header;
}

void append_frame(std::string& out, FrameType type, uint8_t flags, std::string_view payload) {
  CHECK(payload.size() <= kMaxPayloadBytes);
  const size_t begin = out.size();
  out += kMark;
  out += static_cast<char>(type);
  out += static_cast<char>(flags);
  append_u32(out, static_cast<uint32_t>(payload.size()));
  const uint32_t crc = crc32c(payload, crc32c(std::string_view(out).substr(begin + 2, 6)));
  append_u32(out, crc);
  out += payload;
}

Status check_file_header(std::string_view first_bytes) {
  const std::string_view header = first_bytes.substr(0, kFileHeaderBytes);
  if (file_header().starts_with(header) || is_zeros(header)) return {};
  if (!header.starts_with(kMagic)) {
    return Error("not a Trainscope segment (wrong bytes at offset 0)");
  }
  const std::string_view rest = header.substr(kMagic.size());
  if (rest.size() < 4) return Error("not a Trainscope segment (wrong bytes at offset 8)");
  if (const uint32_t version = read_u32(rest); version != kVersion) {
    return Error(
        fmt::format("format version {} at offset 8; this program reads version {}: use a "
                    "newer trainscope",
                    version, kVersion));
  }
  return Error("not a Trainscope segment (wrong bytes at offset 12)");
}

Result<size_t> visit_frames(const FrameBytes& file, const FrameVisitor& visitor) {
  return FrameWalk(file, visitor).run();
}

Result<FrameScan> scan_frames(std::string_view file) {
  FrameScan scan;
  const FrameVisitor visitor = {[&](const Frame& frame) -> Status {
                                  scan.frames.push_back(frame);
                                  return {};
                                },
                                [&](const Damage& damage) { scan.damages.push_back(damage); }};
  const FrameBytes bytes = {file.size(),
                            [&](size_t offset, size_t length) -> Result<std::string_view> {
                              return file.substr(offset, length);
                            }};
  TS_TRY(scan.torn_at, visit_frames(bytes, visitor));
  return scan;
}

Result<std::string_view> frame_payload(std::string_view bytes) {
  Frame frame;
  if (look_at(bytes, 0, frame) != Look::whole) return Error("the frame is damaged");
  return frame.payload;
}

}  // namespace trainscope
