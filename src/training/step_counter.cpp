#include "training/step_counter.h"

#include <algorithm>
#include <cmath>

#include "training/report.h"

namespace trainscope {

namespace {

constexpr double kMaxEpochLength = 1e12;
constexpr int64_t kFewReturns = 4, kLeastBetweenReturns = 16;

}  // namespace

bool StepCounter::is_other_epoch(const Numbered& now) const {
  return now.epoch && last_.epoch && *now.epoch != *last_.epoch;
}

bool StepCounter::begins_epoch(const Numbered& now) const {
  if (now.number < last_.number) return true;
  // The same number again is the same step reported twice, but in another epoch.
  return is_other_epoch(now) && now.number <= last_.number;
}

// 57, 55, 58 of 100: another rank prints the same steps. A new epoch goes back farther, or, where
// little of each is printed, before the first number of the last one; and one process skips no more
// of the two epochs than twice what it skipped before.
bool StepCounter::is_behind(const Numbered& now) const {
  if (!now.of || !last_.of || *now.of != *last_.of || is_other_epoch(now)) return false;
  const auto back = static_cast<double>(last_.number - now.number);
  const bool is_within =
      now.number > epoch_begin_ || 4 * static_cast<double>(epoch_begin_) <= *now.of;
  const bool is_skipped = *now.of - back > static_cast<double>(2 * most_gap_);
  // 76, 100, 78, 100: an epoch was over, and no other rank was ever seen.
  const bool is_after_end = !has_lagged_ && static_cast<double>(last_.number) == *now.of;
  return back > 0 && 4 * back < *now.of && is_within && is_skipped && !is_after_end;
}

// 99 of 100 after 1 of the next epoch, where another rank was seen to lag: nobody jumps from the
// begin of an epoch to its end who has printed much more often. A single process may, if it prints
// less than in its first epoch, but it never goes back a little.
bool StepCounter::is_end_of_last_epoch(const Numbered& now) const {
  if (!has_lagged_ || !now.of || !last_.of || *now.of != *last_.of) return false;
  const auto ahead = static_cast<double>(now.number - last_.number);
  const bool is_first_epoch = offset_ == 0;
  return !is_first_epoch && ahead > *now.of / 2 && ahead > static_cast<double>(4 * most_gap_);
}

StepCounter::Outcome StepCounter::add(const Report& report) {
  Numbered now{0, report.find("epoch"), report.find("of")};
  if (now.of && !(*now.of >= 1 && *now.of <= kMaxEpochLength)) now.of.reset();
  now.number = report.number.value_or(observed_ == 0 ? 1 : last_.number + 1);
  if (now.of && now.number == 0) return Outcome::nothing;  // "0 of 100": nothing is done yet
  if (observed_ > 0 && is_behind(now)) {
    has_lagged_ = true;
    return Outcome::nothing;
  }
  if (observed_ > 0 && is_end_of_last_epoch(now)) return Outcome::nothing;
  if (observed_ == 0) {
    first_number_ = epoch_begin_ = now.number;
    knows_length_ = now.of.has_value();
  } else if (begins_epoch(now)) {
    epoch_begin_ = now.number;
    // 1 … 57, 50: a job that went back to its checkpoint does those steps once more.
    const bool resumed = !now.of && now.number > std::max(gap_, first_number_);
    const int64_t from_zero = first_number_ == 0 ? 1 : 0;
    if (resumed) {
      if (last_.number - now.number < last_.number / 4) ++returns_;
      offset_ = step_ + 1 - now.number;
    } else {
      offset_ += last_.of ? std::llround(*last_.of) : last_.number + from_zero;
      offset_ = std::min(offset_, kMaxCount);
    }
  } else if (now.number == last_.number) {
    return Outcome::same_step;
  }
  advance(now);
  return Outcome::next_step;
}

void StepCounter::advance(const Numbered& now) {
  const int64_t step = offset_ + now.number;
  if (observed_ > 0) {
    const int64_t gap = step - step_;
    covers_ = std::max<int64_t>(1, gap);
    if (now.number > last_.number) gap_ = now.number - last_.number;
    gaps_of_first_epoch_ += offset_ == 0 ? 1 : 0;
    most_gap_ = std::max(most_gap_, gap_);
    ++gaps_;
    gaps_below_ += gap < first_number_ ? 1 : 0;
    gaps_equal_ += gap == first_number_ ? 1 : 0;
    gaps_one_above_ += gap == first_number_ + 1 ? 1 : 0;
  }
  step_ = step;
  last_ = now;
  ++observed_;
}

// Is this, the first number or one more, the median of all gaps? Every step, or every hundredth.
bool StepCounter::is_usual_gap(int64_t gap) const {
  if (gaps_ == 0) return gap == 1;
  const bool is_first = gap == first_number_;
  const int64_t below = gaps_below_ + (is_first ? 0 : gaps_equal_);
  const int64_t equal = is_first ? gaps_equal_ : gaps_one_above_;
  return below <= gaps_ / 2 && gaps_ / 2 < below + equal;
}

// "501 of 1000, 502 of 1000": numbers with a length begin at 1, but nobody jumps to the first one
// seen who then goes on in much smaller steps, in the same epoch.
bool StepCounter::is_resumed() const {
  return gaps_of_first_epoch_ >= 2 && first_number_ / 4 > most_gap_;
}

int64_t StepCounter::first_covers() const {
  const bool from_first = knows_length_ ? !is_resumed() : is_usual_gap(first_number_);
  return from_first ? std::max<int64_t>(1, first_number_) : 1;
}

bool StepCounter::is_mixed() const {
  return returns_ >= kFewReturns && observed_ / kLeastBetweenReturns < returns_;
}

std::optional<int64_t> StepCounter::count() const {
  if (observed_ == 0) return std::nullopt;
  if (knows_length_) return is_resumed() ? step_ - first_number_ + 1 : step_;
  // 9, 19, 29: counted from 0.
  if (first_number_ > 1 && is_usual_gap(first_number_ + 1)) return step_ + 1;
  // 10, 20, 30: thirty steps. 500, 501, 502: a job that was resumed, three steps.
  const bool counts_from_start = first_number_ == 1 || is_usual_gap(first_number_);
  return counts_from_start ? step_ : step_ - first_number_ + 1;
}

}  // namespace trainscope
