// Steps in what the job prints, with no change to the job.
//
// Understands the lines of printed_formats(), or the one pattern of --steps-from. Guarantees: the
// output itself is not touched; escape sequences and progress bars that are drawn over are
// understood. Limits: lines of 4 KiB; kMaxLinesPerSecond, beyond which lines are not looked at and
// counted.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "record/progress.h"

namespace trainscope {

// Named groups: step, of, epoch, loss, accuracy, percent (accuracy in percent), throughput, seconds
// (of one step), and val_loss, val_accuracy, val_percent of the validation set.
struct PrintedFormat {
  enum class Is {
    step,
    bar,           // one of another length is no training
    bar_of_epoch,  // the same, and one that begins without "Epoch 2/5" in front is no training
    epoch_begins,  // a line of its own
    numbers,       // of the step that the next line tells
  };
  std::string_view name;
  std::string_view hint;  // a line without this text cannot match: most lines cost one search
  std::string_view pattern;
  Is is = Is::step;
  std::string_view example;
};
std::span<const PrintedFormat> printed_formats();

class CompiledFormat;
struct PrintedMatch;

class PrintedSteps {
 public:
  // `own_pattern` of --steps-from takes the place of all others; empty: none.
  // `kept` survives this process: another one goes on where this one ended; null: nothing does.
  PrintedSteps(ProgressSink& sink, const std::string& own_pattern, SharedLine* kept = nullptr);
  ~PrintedSteps();

  // Bytes of one stream of output as they come; `since_zero_ns` is when. Lines that come together
  // get the same time, by which readers know that none has a time of its own.
  void take(std::string_view bytes, int64_t since_zero_ns);
  // There is no more: what has no newline is a line too.
  void finish();
  int64_t lines_not_looked_at() const { return lines_skipped_; }

 private:
  // Of what lies between two ends of lines; bars end where the next begins.
  void end_line(ProgressSink::Batch& batch);
  bool take_line(std::string_view line, ProgressSink::Batch& batch);
  void add_reports(const CompiledFormat& format, const PrintedMatch& match,
                   ProgressSink::Batch& batch);
  bool is_of_training(const PrintedMatch& match, PrintedFormat::Is is);
  bool within_rate();
  void keep_state() const;
  void take_up_state();

  ProgressSink& sink_;
  SharedLine* kept_;
  std::vector<CompiledFormat> formats_;
  std::string line_;
  size_t chunk_begin_ = 0;                   // where in line_ the bytes of the last chunk begin
  int64_t time_ns_ = 0;                      // when the last byte of line_ came
  std::optional<double> epoch_;              // that was announced by a line of its own
  std::optional<double> bar_of_, bar_step_;  // of the bar of this epoch
  Report waiting_;                           // numbers of the step that comes next
  int64_t second_ = 0, lines_in_second_ = 0, lines_skipped_ = 0;
};

// Without escape sequences; other control characters are spaces.
std::string plain_line(std::string_view line);

}  // namespace trainscope
