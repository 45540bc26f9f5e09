// Finds steps in what the job prints, without changes to the job.
//
// Parses the lines of printed_formats(), or the one pattern of --steps-from. Guarantees: the output
// itself is unchanged; escape sequences and redrawn progress bars are handled. Limits: the first 4
// KiB of a line; a budget of CPU time (matching_budget.h), beyond which lines are counted and not
// searched.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "record/intake/matching_budget.h"
#include "record/intake/progress.h"
#include "record/intake/training_bar.h"

namespace trainscope {

// Named groups: step, or index (counted from 0), or item of items (for a line that counts items of
// the dataset instead of steps); of, epoch, loss, accuracy, percent (accuracy in percent), lr,
// throughput, seconds (of one step); val_loss, val_accuracy, val_percent of the validation set;
// test_loss, test_accuracy, test_percent, or test_right of test_all, of the test set; loss_d and
// loss_g of the two networks of a GAN.
struct PrintedFormat {
  enum class Kind {
    step,
    bar,           // one of several bars (training_bar.h)
    bar_of_epoch,  // the same, and a bar without "Epoch 2/5" before it is not training
    rounds,        // a number that goes back repeats the best round, unless it is the first
    epoch_begins,  // a separate line
    numbers,       // of the step that the next line reports
    epoch_ends,    // numbers of the epoch that an earlier line announced
  };
  std::string_view name;
  // A line that does not begin with the first and contain the others cannot match: for most lines
  // this check is the only cost.
  std::string_view begins = {}, hint = {}, second_hint = {};
  std::string_view pattern;
  Kind kind = Kind::step;
  std::string_view example;
  // "7 of 100" from a loop that counts from 1 or from 0: 0 in one line shows which.
  bool may_count_from_zero = false;
};
std::span<const PrintedFormat> printed_formats();

// In place of bytes that output.log lacks. It ends half a line, and begins with the rest of
// another.
inline constexpr std::string_view kOutputGap = "[trainscope: some output is missing here]\n";

class CompiledFormat;
class StepsGuess;
struct PrintedMatch;

class PrintedSteps {
 public:
  // Counts of lines since the last call.
  struct Counts {
    int64_t matched = 0;
    int64_t skipped = 0;  // the budget was used up
    int64_t costly = 0;   // no match was found before a pattern had taken too long
    int64_t cut = 0;      // no match was found in as much of the line as is searched
  };
  // Lines per second that are searched for a pattern of --steps-from even over the budget.
  static constexpr int64_t kFloorOfOwnPattern = 1000;

  // `own_pattern` of --steps-from replaces all others; empty: none. Streams of one job share the
  // budget. `kept` outlives this process, so that a restarted one continues there; may be null.
  // `guess` gets the lines that matched nothing; may be null.
  PrintedSteps(ProgressSink& sink, const std::string& own_pattern, MatchingBudget& budget,
               SharedLine* kept = nullptr, StepsGuess* guess = nullptr);
  ~PrintedSteps();

  // Bytes of one stream of output as they arrive, at `since_zero_ns`. Lines that arrive together
  // get the same timestamp, which shows readers that their own times are unknown.
  void take(std::string_view bytes, int64_t since_zero_ns);
  // End of the output: the last line may lack its newline; it is no line if more is missing.
  void finish(bool is_cut = false);
  Counts take_counts() { return std::exchange(counts_, {}); }

 private:
  // Compiled when the first line comes that may match: most never are.
  struct Candidate {
    PrintedFormat format;
    std::string pattern;
    std::unique_ptr<CompiledFormat> compiled;
  };

  // The text between two ends of lines; a bar ends where the next one begins.
  void end_line(ProgressSink::Batch& batch);
  void clear_line();
  bool take_line(std::string_view line, ProgressSink::Batch& batch);
  void add_reports(const CompiledFormat& format, const PrintedMatch& match,
                   ProgressSink::Batch& batch);
  void add_step(const PrintedMatch& match, std::optional<int64_t> step, std::optional<double> epoch,
                Report report, ProgressSink::Batch& batch);
  void keep_for_next_step(const Report& numbers);
  // Adds the kept numbers to the report of a step, or forgets them.
  void take_kept(Report* step);
  bool is_of_training(const PrintedMatch& match, PrintedFormat::Kind kind);
  bool is_bar_of_training(const PrintedMatch& match, PrintedFormat::Kind kind);
  bool is_next_round(const PrintedMatch& match);
  std::optional<double> step_number(const PrintedFormat& format, const PrintedMatch& match);
  const CompiledFormat& compiled(Candidate& candidate);
  // A number that a restarted recorder needs, here and in the shared memory.
  struct KeptNumber {
    std::optional<double>& here;
    std::atomic<double>& shared;
  };
  std::array<KeptNumber, 13> kept_numbers();
  void keep_state();
  void take_up_state();

  ProgressSink& sink_;
  MatchingBudget& budget_;
  SharedLine* kept_;
  StepsGuess* guess_;
  std::vector<Candidate> formats_;
  std::string line_;
  bool is_in_gap_ = false;       // line_ is the rest of one whose begin is missing
  size_t chunk_begin_ = 0;       // where in line_ the bytes of the last chunk begin
  int64_t time_ns_ = 0;          // when the last byte of line_ came
  std::optional<double> epoch_;  // announced by a separate line
  TrainingBar bar_;              // of this epoch
  std::optional<double> first_round_, last_round_;
  std::optional<double> counts_from_zero_;                     // 1 if it was seen
  std::optional<double> next_loss_, next_accuracy_, next_lr_;  // of the step that comes next
  Counts counts_;
};

// Without escape sequences; other control characters are spaces.
std::string plain_line(std::string_view line);

}  // namespace trainscope
