// Counts the steps that one source reports, in constant memory.
//
// Numbers are unrolled over epochs, repeats are one step. Guarantees: count() follows the contract
// ("Steps"). A plain struct without pointers: the recorder has it in the memory that it shares with
// the supervisor. Where numbers have a length ("7 of 100"), those of ranks that print the same
// steps a little later are left out. Limits: reports are in order of time; other numbers that go
// back begin a new epoch.
#pragma once

#include <cstdint>
#include <optional>

namespace trainscope {

struct Report;

// Counts of what a job reports end here, whatever numbers it reports (each is 2^53 at most).
inline constexpr int64_t kMaxCount = int64_t{1} << 62;

class StepCounter {
 public:
  enum class Outcome { nothing, same_step, next_step };
  Outcome add(const Report& report);

  int64_t observed() const { return observed_; }
  // The last step, counted through all epochs, and how many steps there are since the one before.
  int64_t step() const { return step_; }
  int64_t covers() const { return covers_; }
  // Steps between the first report and the last.
  int64_t steps_since_first() const { return observed_ == 0 ? 0 : step_ - first_number_; }
  // How many steps the first report stands for, now that its interval to the others is known.
  int64_t first_covers() const;
  std::optional<int64_t> count() const;
  // Numbers without a length went back a little again and again, as where several processes report
  // the same steps: nobody knows how many they did. (A job that resumes seldom does so.)
  bool is_mixed() const;

 private:
  struct Numbered {
    int64_t number = 0;
    std::optional<double> epoch, of;
  };
  bool is_other_epoch(const Numbered& now) const;
  bool begins_epoch(const Numbered& now) const;
  bool is_behind(const Numbered& now) const;
  bool is_end_of_last_epoch(const Numbered& now) const;
  void advance(const Numbered& now);
  bool is_usual_gap(int64_t gap) const;
  bool is_resumed() const;

  int64_t observed_ = 0, step_ = 0, covers_ = 1;
  Numbered last_;
  int64_t first_number_ = 0, offset_ = 0;
  int64_t gap_ = 1;          // between the last two numbers that went on
  int64_t most_gap_ = 1;     // of all of them
  int64_t epoch_begin_ = 0;  // the first number of this epoch
  int64_t gaps_of_first_epoch_ = 0;
  int64_t returns_ = 0;        // a little back, but not to where an epoch begins
  bool has_lagged_ = false;    // another rank printed a step that was there before
  bool knows_length_ = false;  // "7 of 100": numbers begin at 1, whatever was seen first
  // The gaps between steps below the first number, equal to it, and one above: the usual gap only
  // matters as far as it is one of these.
  int64_t gaps_ = 0, gaps_below_ = 0, gaps_equal_ = 0, gaps_one_above_ = 0;
};

}  // namespace trainscope
