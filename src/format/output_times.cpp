#include "format/output_times.h"

#include <algorithm>
#include <optional>

#include "base/crc32c.h"

namespace trainscope {

namespace {

constexpr int64_t kFirstOutputPause = 100'000'000;
constexpr size_t kRecordsPerPause = 32768;
constexpr size_t kMostDoublings = 30;
constexpr size_t kSummedBytes = 12;

void append_little_endian(std::string& out, uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
}

uint64_t little_endian(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

std::optional<OutputTime> parse_output_time(std::string_view record, size_t index) {
  if (little_endian(record.substr(kSummedBytes)) != crc32c(record.substr(0, kSummedBytes))) {
    return std::nullopt;
  }
  const auto time_ns = static_cast<int64_t>(little_endian(record.substr(0, 8)));
  if (time_ns < 0) return std::nullopt;
  return OutputTime{time_ns, static_cast<size_t>(little_endian(record.substr(8, 4))),
                    output_pause_ns(index)};
}

}  // namespace

std::string output_times_name(std::string_view part) {
  return std::string(part.substr(0, part.rfind('.'))) + ".times";
}

int64_t output_pause_ns(size_t index) {
  return kFirstOutputPause << std::min(index / kRecordsPerPause, kMostDoublings);
}

void append_output_time(std::string& out, int64_t time_ns, size_t offset) {
  std::string record;
  append_little_endian(record, static_cast<uint64_t>(time_ns), 8);
  append_little_endian(record, offset, 4);
  append_little_endian(record, crc32c(record), 4);
  out += record;
}

void append_lost_output_times(std::string& out) { out.append(kOutputTimeBytes, '\0'); }

std::vector<OutputTime> parse_output_times(std::string_view bytes) {
  std::vector<OutputTime> times;
  bool is_damaged = false;  // the one before
  for (size_t i = 0; bytes.size() >= kOutputTimeBytes; ++i) {
    auto found = parse_output_time(bytes.substr(0, kOutputTimeBytes), i);
    bytes.remove_prefix(kOutputTimeBytes);
    if (found && !times.empty()) {
      const OutputTime& last = times.back();
      if (found->time_ns < last.time_ns || found->offset < last.offset) found.reset();
    }
    if (!times.empty() && !found) times.back().within_ns = kUnknownPause;
    if (!times.empty() && found && is_damaged) {
      times.back().within_ns = found->time_ns - times.back().time_ns;
    }
    if (found) times.push_back(*found);
    is_damaged = !found;
  }
  return times;
}

}  // namespace trainscope
