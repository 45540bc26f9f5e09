// How much CPU time searching printed lines for steps may take.
//
// 1 % of a core, averaged over ten seconds, whatever the job prints. A minimum of lines per second
// is searched anyway if the user gave a pattern. Limits: one thread; exceeding the budget is
// detected after the line that did it.
#pragma once

#include <cstdint>

#include "base/clock.h"

namespace trainscope {

class MatchingBudget {
 public:
  using CpuClock = int64_t (*)();
  // `floor_per_second` lines are allowed in every second, whatever they take.
  explicit MatchingBudget(int64_t floor_per_second, CpuClock cpu_clock = thread_cpu_ns);

  // Work begins at this time since t = 0: the budget has grown since the last call.
  void begin(int64_t since_zero_ns);
  // May one more line be searched?
  bool allows_line();
  // Subtracts the time used since begin() or the last charge().
  void charge();

 private:
  int64_t floor_per_second_;
  CpuClock cpu_clock_;
  int64_t left_ns_;
  int64_t now_ns_ = 0, used_until_ns_ = 0;
  int64_t second_ = 0, lines_in_second_ = 0;
};

}  // namespace trainscope
