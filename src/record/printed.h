// Steps in what the job prints, with no change to the job.
//
// Understands the lines of printed_formats(), or the one pattern of --steps-from. Guarantees: the
// output itself is not touched; escape sequences and progress bars that are drawn over are
// understood. Limits: lines of 4 KiB; kMaxLinesPerSecond, beyond which lines are not looked at and
// counted.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "record/progress.h"

namespace trainscope {

// Named groups: step, of, epoch, loss, accuracy, percent (accuracy in percent), throughput, seconds
// (of one step), batch. `list`: what follows has more numbers, as "name: 0.5" or "name=0.5".
struct PrintedFormat {
  std::string_view name;
  std::string_view hint;  // a line without this text cannot match: most lines cost one search
  std::string_view pattern;
  bool list = false;
  std::string_view set = "";  // of its numbers; empty: train
  std::string_view example;
};
std::span<const PrintedFormat> printed_formats();

class CompiledFormat;
struct PrintedMatch;

class PrintedSteps {
 public:
  // `own_pattern` of --steps-from takes the place of all others; empty: none.
  PrintedSteps(ProgressSink& sink, const std::string& own_pattern);
  ~PrintedSteps();

  // Bytes of one stream of output as they come; `since_zero_ns` is now.
  void take(std::string_view bytes, int64_t since_zero_ns);
  int64_t lines_not_looked_at() const { return lines_skipped_; }

 private:
  void take_line(std::string_view line, int64_t since_zero_ns, ProgressSink::Batch& batch);
  void add_reports(const CompiledFormat& format, const PrintedMatch& match, int64_t since_zero_ns,
                   ProgressSink::Batch& batch);
  bool within_rate(int64_t since_zero_ns);

  ProgressSink& sink_;
  std::vector<std::unique_ptr<CompiledFormat>> formats_;
  std::string line_;
  std::optional<double> epoch_;  // that was announced by a line of its own
  int64_t second_ = 0, lines_in_second_ = 0, lines_skipped_ = 0;
};

// Without escape sequences and backspaces; other control characters are spaces.
std::string plain_line(std::string_view line);

}  // namespace trainscope
