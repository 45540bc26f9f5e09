// Steps in what the job prints, with no change to the job.
//
// Understands the lines of printed_formats(), or the one pattern of --steps-from. Guarantees: the
// output itself is not touched; escape sequences and progress bars that are drawn over are
// understood. Limits: the first 4 KiB of a line; a budget of CPU time (matching_budget.h), beyond
// which lines are not searched but counted.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "record/matching_budget.h"
#include "record/progress.h"

namespace trainscope {

// Named groups: step, of, epoch, loss, accuracy, percent (accuracy in percent), throughput, seconds
// (of one step), and val_loss, val_accuracy, val_percent of the validation set, test_loss and
// test_accuracy of the test set.
struct PrintedFormat {
  enum class Kind {
    step,
    bar,           // one of another length is no training
    bar_of_epoch,  // the same, and one that begins without "Epoch 2/5" in front is no training
    epoch_begins,  // a line of its own
    numbers,       // of the step that the next line tells
  };
  std::string_view name;
  // A line that does not begin with the one and contain the others cannot match: most lines cost no
  // more than looking for these.
  std::string_view begins = {}, hint = {}, second_hint = {};
  std::string_view pattern;
  Kind kind = Kind::step;
  std::string_view example;
};
std::span<const PrintedFormat> printed_formats();

class CompiledFormat;
struct PrintedMatch;

class PrintedSteps {
 public:
  // Lines, since they were asked for last.
  struct Counts {
    int64_t matched = 0;
    int64_t skipped = 0;  // the budget was used up
    int64_t costly = 0;   // no match was found before a pattern had taken too long
  };
  // Lines per second that are searched for a pattern of --steps-from even over the budget.
  static constexpr int64_t kFloorOfOwnPattern = 1000;

  // `own_pattern` of --steps-from takes the place of all others; empty: none. Streams of one job
  // share the budget. `kept` survives this process: another one goes on where this one ended; null:
  // nothing does.
  PrintedSteps(ProgressSink& sink, const std::string& own_pattern, MatchingBudget& budget,
               SharedLine* kept = nullptr);
  ~PrintedSteps();

  // Bytes of one stream of output as they come; `since_zero_ns` is when. Lines that come together
  // get the same time, by which readers know that none has a time of its own.
  void take(std::string_view bytes, int64_t since_zero_ns);
  // There is no more: what has no newline is a line too.
  void finish();
  Counts take_counts() { return std::exchange(counts_, {}); }

 private:
  // Compiled when the first line comes that may match: most never are.
  struct Candidate {
    PrintedFormat format;
    std::string pattern;
    std::unique_ptr<CompiledFormat> compiled;
  };

  // Of what lies between two ends of lines; bars end where the next begins.
  void end_line(ProgressSink::Batch& batch);
  bool take_line(std::string_view line, ProgressSink::Batch& batch);
  void add_reports(const CompiledFormat& format, const PrintedMatch& match,
                   ProgressSink::Batch& batch);
  bool is_of_training(const PrintedMatch& match, PrintedFormat::Kind kind);
  const CompiledFormat& compiled(Candidate& candidate);
  void keep_state() const;
  void take_up_state();

  ProgressSink& sink_;
  MatchingBudget& budget_;
  SharedLine* kept_;
  std::vector<Candidate> formats_;
  std::string line_;
  size_t chunk_begin_ = 0;                   // where in line_ the bytes of the last chunk begin
  int64_t time_ns_ = 0;                      // when the last byte of line_ came
  std::optional<double> epoch_;              // that was announced by a line of its own
  std::optional<double> bar_of_, bar_step_;  // of the bar of this epoch
  Report waiting_;                           // numbers of the step that comes next
  Counts counts_;
};

// Without escape sequences; other control characters are spaces.
std::string plain_line(std::string_view line);

}  // namespace trainscope
