#include "store/frame.h"

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
// with long lengths behind them would take time by the square of its size.
constexpr size_t kMinSearchBytes = size_t{64} << 20;

// The next offset after `from` where a whole frame stands; the file's size when there is none.
size_t next_whole(std::string_view file, size_t from, size_t& budget) {
  Frame ignored;
  for (size_t at = file.find(kMark, from); at != std::string_view::npos;
       at = file.find(kMark, at + 1)) {
    if (file.size() - at < kFrameHeaderBytes) break;
    const size_t length = read_u32(file.substr(at + 4));
    if (length > kMaxPayloadBytes || length > file.size() - at - kFrameHeaderBytes) continue;
    if (length > budget) return file.size();
    budget -= length;
    if (look_at(file, at, ignored) == Look::whole) return at;
  }
  return file.size();
}

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

Result<FrameScan> scan_frames(std::string_view file) {
  TS_CHECK_OK(check_file_header(file));
  if (file.size() < kFileHeaderBytes) {
    return Error(fmt::format("only {} bytes, shorter than a segment's header", file.size()));
  }
  FrameScan scan;
  if (is_zeros(file.substr(0, kFileHeaderBytes))) {
    scan.damages.push_back(
        {0, kFileHeaderBytes, fmt::format("{} zeros in place of the header", kFileHeaderBytes)});
  }
  size_t at = kFileHeaderBytes;
  size_t search_budget = std::max(kMinSearchBytes, 4 * file.size());
  while (at < file.size()) {
    Frame frame;
    const Look look = look_at(file, at, frame);
    if (look == Look::whole) {
      scan.frames.push_back(frame);
      at += kFrameHeaderBytes + frame.payload.size();
      continue;
    }
    const size_t next = next_whole(file, at + 1, search_budget);
    if (look == Look::torn && next == file.size()) {
      scan.torn_at = at;
      break;
    }
    scan.damages.push_back(
        {at, next, fmt::format("damaged frame at offset {}, {} bytes skipped", at, next - at)});
    at = next;
  }
  return scan;
}

}  // namespace trainscope
