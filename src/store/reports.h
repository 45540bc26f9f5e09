// The frames that hold reported progress: lines of text, and the reports that they are.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/files.h"
#include "training/training.h"

namespace trainscope {

// The text of such a frame; in `buffer` when it was compressed.
Result<std::string_view> report_lines(std::string_view payload, uint8_t flags, std::string& buffer);
// How many reports it holds. An Error when it does not begin with the number of the first.
Result<uint64_t> count_reports(std::string_view lines);

struct StoredReports {
  std::vector<StoredReport> reports;  // in the order in which they were written
  int64_t unreadable = 0;             // lines that are not reports
};
// A report that was sealed while its file was read is in `tail` and in a segment, and is taken
// once.
Result<StoredReports> read_reports(std::span<const FramePlace> frames);

}  // namespace trainscope
