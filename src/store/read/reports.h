// The frames that hold reported progress: lines of text, and the reports that they are.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/read/files.h"
#include "training/training.h"

namespace trainscope {

// The text of such a frame; in `buffer` when it was compressed. An Error if it decompresses to more
// than most_report_bytes.
Result<std::string_view> report_lines(std::string_view payload, uint8_t flags, std::string& buffer);
// How many reports it holds. An Error when it does not begin with the number of the first, or one
// above 2^53, after which no number could follow.
Result<uint64_t> count_reports(std::string_view lines);

// A frame of reports, and the first of their times.
struct ReportFrame {
  FramePlace place;
  size_t skipped = 0;  // so many of its first lines are in an earlier frame too
  int64_t first_ns = INT64_MAX;
  bool is_sorted = true;                              // its lines are in order of time
  std::shared_ptr<const std::string> text = nullptr;  // of a compressed one, if it is kept
};

// Of the text of frames that are open together.
inline constexpr size_t kMaxOpenReportBytes = size_t{256} << 20;
// Of the text of the first frames, which is kept because reports are read several times.
inline constexpr size_t kMaxKeptReportBytes = size_t{16} << 20;

// The reports of a run in order of time.
//
// Guarantees: a report that was sealed while its file was read, and is in `tail` and in a segment,
// is given once. Memory is that of the frames whose times overlap, as a rule one or two, and 256
// MiB at most: more is an Error. A line of more than 8 KiB is unreadable. Limits: it reads from
// RunFiles, which must outlive it.
class StoredReports : public Reports {
 public:
  // Reads the times of all reports. Those with a number below `first` are left out.
  static Result<std::shared_ptr<const StoredReports>> open(std::span<const FramePlace> frames,
                                                           int64_t first = 0);

  std::unique_ptr<Reader<StoredReport>> read(
      ReportsWanted wanted = ReportsWanted::all) const override;
  // The same with another limit than kMaxOpenReportBytes.
  std::unique_ptr<Reader<StoredReport>> read_within(
      size_t max_open_bytes, ReportsWanted wanted = ReportsWanted::all) const;
  // The number after the last report.
  int64_t next_number() const { return next_number_; }
  // Lines that are not reports; known once all were read and all of them were wanted.
  int64_t unreadable() const { return unreadable_; }

 private:
  std::vector<ReportFrame> frames_;  // in the order in which they were written
  int64_t next_number_ = 0;
  mutable std::atomic<int64_t> unreadable_ = 0;
};

// Notes that so many lines are not reports, unless none are.
void note_unreadable(int64_t lines, Training& training);

}  // namespace trainscope
