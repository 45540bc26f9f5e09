// idle: a job that neither computes nor reads.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/support/rule.h"
#include "base/text.h"

namespace trainscope {

namespace {

Judgement judge(Witness& witness) {
  const Evidence& evidence = witness.evidence();
  Judgement judgement;
  if (evidence.has_phases()) return judgement;
  double quiet = witness.degree(Signal::job_cores, 0.25, 0.06);
  if (!witness.value(Signal::job_cores)) quiet = 0;
  quiet *= 1 - witness.degree(Signal::read_bytes, 0.1e6, 1e6);
  quiet *= 1 - witness.degree(Signal::disk_read_bytes, 0.1e6, 1e6);
  quiet *= 1 - witness.degree(Signal::disk_write_bytes, 0.1e6, 1e6);
  quiet *= 1 - witness.degree(Signal::network_bytes, 1e6, 10e6);
  if (evidence.uses_gpu()) quiet *= 1 - witness.degree(Signal::gpu_busy, 0.02, 0.1);
  judgement.strength = 0.9 * quiet;
  if (!(judgement.strength > 0)) return judgement;
  judgement.finding.summary = fmt::format("the job uses {:.0f} % of a core and reads nothing",
                                          100 * *witness.value(Signal::job_cores));
  judgement.finding.advice = "look at what it waits for: a lock, a server, a sleep";
  return judgement;
}

}  // namespace

extern const Rule idle_rule;
const Rule idle_rule = {
    .name = "idle",
    .verdict = "idle",
    .summary = "the job does next to nothing",
    .needs = "job.cpu.time",
    .judge = judge,
};

}  // namespace trainscope
