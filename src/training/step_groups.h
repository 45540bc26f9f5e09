// Steps that were read together, printed ones or lines of the pipe without their own timestamp:
// what the job writes is buffered, or steps follow each other faster than they can be read. They
// have the same timestamp, and none has its own time. So it is with events of one date, from a
// writer whose clock counts seconds or stands still.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/training.h"

namespace trainscope {

class StepGroups {
 public:
  // In order of time.
  void add(const Step& step);

  // Why the times of single steps are not known, when so many came together that the others mean
  // little: more than a quarter. Empty: they are known well enough. (Buffered output makes it
  // nearly all; a reader that a busy machine holds up now and then, a few.) `source`: of the steps.
  std::string reason(std::string_view source) const;
  // Do the averages of groups mean anything? Lines that were all printed near the end of the run
  // were not printed when their steps were done.
  bool are_averages_known() const;
  // The job reported the duration of every step.
  bool are_durations_reported() const { return reported_ == steps_; }

 private:
  // Steps with neither their own time nor a duration that the job reported.
  int64_t untimed() const { return untimed_ + (group_size_ > 1 ? group_untimed_ : 0); }

  int64_t steps_ = 0, reported_ = 0;
  int64_t untimed_ = 0;                         // in groups that have ended
  int64_t group_size_ = 0, group_untimed_ = 0;  // of the last group
  double first_s_ = 0, last_s_ = 0;
};

}  // namespace trainscope
