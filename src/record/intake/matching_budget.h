// How much CPU time may go into searching printed lines for steps.
//
// 1 % of a core, averaged over ten seconds: what a job prints cannot cost more than that, whatever
// it prints. A floor of lines per second is searched even so, for whoever gave a pattern. Limits:
// one thread; what is over the budget is known after the line that took it.
#pragma once

#include <cstdint>

#include "base/clock.h"

namespace trainscope {

class MatchingBudget {
 public:
  using CpuClock = int64_t (*)();
  // `floor_per_second` lines are allowed in every second, whatever they take.
  explicit MatchingBudget(int64_t floor_per_second, CpuClock cpu_clock = thread_cpu_ns);

  // Work begins at this time since t = 0: what was saved since the last time is there again.
  void begin(int64_t since_zero_ns);
  // May one more line be searched?
  bool allows_line();
  // Takes what was used since begin() or the last charge().
  void charge();

 private:
  int64_t floor_per_second_;
  CpuClock cpu_clock_;
  int64_t left_ns_;
  int64_t now_ns_ = 0, used_until_ns_ = 0;
  int64_t second_ = 0, lines_in_second_ = 0;
};

}  // namespace trainscope
