// A known delay of the input, injected for tests of tools that should find it.
//
// `slow:20ms`: every step's input takes 20 ms longer. `stall:7x200ms`: that of every seventh step
// (7, 14, …) takes 200 ms longer. The time is slept, not computed.
#pragma once

#include <cstdint>

namespace trainscope::workload {

struct InjectedDelay {
  std::uint64_t every = 0;  // 0: none
  double delay_s = 0.0;

  double before_step(std::uint64_t step) const {
    return every != 0 && step % every == 0 ? delay_s : 0.0;
  }
};

}  // namespace trainscope::workload
