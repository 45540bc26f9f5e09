// Where the time of the steps went; of a run without steps, the time that is judged.
#pragma once

#include <vector>

#include "analyze/support/evidence.h"
#include "analyze/support/judged.h"
#include "model/finding.h"

namespace trainscope {

// Parts: input wait, host work, device compute, transfer, communication, checkpoint, evaluation,
// start-up, idle, unexplained. Those that took no time are left out; the shares add up to 1. What
// the job does not report is divided by what its threads and its GPU did, and the wait of its main
// thread by the verdict: `verdict` is null if there is none.
std::vector<BreakdownPart> break_down(const Evidence& evidence, const Judged* verdict);

}  // namespace trainscope
