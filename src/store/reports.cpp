#include "store/reports.h"

#include <algorithm>

#include "base/text.h"
#include "format/format.h"

namespace trainscope {

namespace {

std::string_view take_line(std::string_view& lines) {
  const std::string_view line = lines.substr(0, lines.find('\n'));
  lines.remove_prefix(std::min(lines.size(), line.size() + 1));
  return line;
}

}  // namespace

Result<std::string_view> report_lines(std::string_view payload, uint8_t flags,
                                      std::string& buffer) {
  if ((flags & kFrameZstd) == 0) return payload;
  TS_TRY(buffer, decompress(payload, kMaxPayloadBytes));
  return std::string_view(buffer);
}

Result<uint64_t> count_reports(std::string_view lines) {
  if (!parse_integer(take_line(lines))) return Error("progress without its number");
  const auto ends = static_cast<uint64_t>(std::count(lines.begin(), lines.end(), '\n'));
  return ends + (lines.empty() || lines.back() == '\n' ? 0 : 1);
}

Result<StoredReports> read_reports(std::span<const FramePlace> frames) {
  StoredReports all;
  int64_t next = 0;
  std::string payload_buffer, text_buffer;
  for (const FramePlace& frame : frames) {
    TS_TRY(const std::string_view payload, frame.payload(payload_buffer));
    TS_TRY(std::string_view lines, report_lines(payload, frame.flags, text_buffer));
    int64_t number = parse_integer(take_line(lines)).value_or(0);
    for (; !lines.empty(); ++number) {
      const std::string_view line = take_line(lines);
      if (number < next) continue;
      next = number + 1;
      auto report = parse_stored_report(line);
      if (report) {
        all.reports.push_back(std::move(*report));
      } else {
        ++all.unreadable;
      }
    }
  }
  return all;
}

}  // namespace trainscope
