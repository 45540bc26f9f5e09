// What the job reported that no other analysis reads: phases by name, the communication of ranks,
// and what the job wrote during its pauses.
//
// Guarantees: memory does not grow with the number of steps, phases or samples.
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

// Whether the instrumentation timed phases in some steps only.
bool are_phases_in_bursts(const RunView& run);

// Seconds in all steps, by name, of the sender of the steps, without what makes the first ones
// slower. Phases that were timed in bursts are left out if it is unknown in which steps.
using PhaseTimes = std::map<std::string, double, std::less<>>;
PhaseTimes own_phase_times(const RunView& run);
// The same, but communication is that of the sender with most of it: the ranks that wait for a slow
// one may not be the one that reports the steps.
PhaseTimes phase_times(const RunView& run);

// How far the job's writes fall into pauses: 0 as often as at other times, 1 only there. Empty: not
// recorded, there are no pauses, or there are too few samples outside of them.
Result<std::optional<double>> writes_in_pauses(const RunView& run, const std::vector<Pause>& pauses,
                                               double begin_s, double end_s);

// CPU time of the job in its pauses, of that at other times: 0 does nothing there, 1 as much as
// outside. Empty as above.
Result<std::optional<double>> work_in_pauses(const RunView& run, const std::vector<Pause>& pauses,
                                             double begin_s, double end_s);

// Where phases of the thread that does the steps are, of a run without steps. Reads all of them.
struct PhaseSpan {
  double from_s = 0, to_s = 0;  // of those that are not checkpoints or evaluations
  double first_input_s = 0;     // length of the first wait for data
  double first_input_to_s = 0;  // and its end; 0: there was none
};
Result<std::optional<PhaseSpan>> find_phase_span(const Training& training);

}  // namespace trainscope
