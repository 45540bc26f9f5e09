// stalls: an unmodified job that does nothing in some of its steps.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/support/rule.h"
#include "base/text.h"

namespace trainscope::stalls_rule {

namespace {

// Whoever reads or writes meanwhile, or has workers that load, waits for these.
double waits_for_something_known(Witness& witness) {
  return witness.aside([&] {
    return std::max({witness.degree(Signal::read_bytes, 0.1e6, 1e6),
                     witness.degree(Signal::disk_read_bytes, 0.1e6, 1e6),
                     witness.waits_for_storage(0.08, 0.25), witness.checkpoints(),
                     witness.degree(Signal::worker_most, 0.3, 0.6)});
  });
}

Judgement judge(Witness& witness) {
  const Evidence& evidence = witness.evidence();
  Judgement judgement;
  const auto work = evidence.reported().work_in_long_steps();
  if (evidence.knows_input() || !work) return judgement;
  const double share = evidence.long_steps_share();
  judgement.strength =
      0.85 * witness.share_degree("time lost in long steps", share, 0.1, 0.35) *
      witness.share_degree("CPU of the job in long steps, of that in others", work, 0.6, 0.3) *
      witness.degree(Signal::main_blocked, 0.1, 0.25) * (1 - waits_for_something_known(witness));
  if (evidence.uses_gpu()) judgement.strength *= witness.without(Signal::gpu_busy, 0.3, 0.7);
  if (!(judgement.strength > 0)) return judgement;
  judgement.share = share;
  judgement.lost = witness.device_bound(share);
  judgement.finding.summary = fmt::format(
      "long steps in which the job does next to nothing lose {:.0f} % of the time", 100 * share);
  for (const Finding& pauses : evidence.reported().step_time().findings) {
    if (pauses.id == "pauses_unexplained") judgement.finding.evidence = pauses.evidence;
  }
  judgement.finding.advice = "look at what these steps wait for: data, a lock, a server, a sleep";
  return judgement;
}

}  // namespace

extern const Rule entry;
const Rule entry = {
    .name = "stalls",
    .verdict = "idle",
    .summary = "the job does next to nothing in some of its steps",
    .needs = "steps, job.cpu.time and job.thread.time",
    .judge = judge,
};

}  // namespace trainscope::stalls_rule
