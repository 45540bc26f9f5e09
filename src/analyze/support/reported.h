// What the job reported that no other analysis reads: phases by name, the communication of ranks,
// and what the job wrote during its long steps.
//
// Guarantees: memory does not grow with the number of steps or phases.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/finding.h"
#include "model/model.h"
#include "model/training.h"

namespace trainscope {

// Seconds by name. Of the sender of the steps, but communication is that of the sender with most of
// it: the ranks that wait for a slow one may not be the one that reports the steps.
std::map<std::string, double, std::less<>> phase_times(const Training& training);

// Of one step, not hidden behind the backward pass, as PyTorch's DDP measures it; of the rank with
// most of it. Reads the numbers that were reported if there are several senders.
Result<std::optional<double>> ddp_communication_s(const Training& training);

// Steps that took much longer than usual.
struct LongSteps {
  double lost_share = 0;  // of the training's time, beyond the usual duration of a step
  // How far the job's writes fall into them: 0 as often as at other times, 1 only there. Empty: not
  // recorded, or there are too few samples outside.
  std::optional<double> writes;
};
Result<LongSteps> find_long_steps(const RunView& run, const std::vector<Pause>& pauses,
                                  double begin_s, double end_s);

}  // namespace trainscope
