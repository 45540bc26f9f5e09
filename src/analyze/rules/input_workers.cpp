// input_workers: an unmodified job whose main thread waits while its loading workers are busy.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/support/rule.h"
#include "base/text.h"

namespace trainscope {

namespace {

Judgement judge(Witness& witness) {
  const Evidence& evidence = witness.evidence();
  Judgement judgement;
  if (evidence.has_phases() || evidence.workers() == 0) return judgement;
  const double blocked = witness.degree(Signal::main_blocked, 0.1, 0.3);
  const double busy = witness.degree(Signal::worker_most, 0.5, 0.8);
  judgement.strength = 0.9 * blocked * busy;
  if (evidence.uses_gpu()) {
    judgement.strength *= 1 - witness.degree(Signal::gpu_busy, 0.75, 0.95);
  }
  if (!(judgement.strength > 0)) return judgement;
  const double most = *witness.value(Signal::worker_most);
  const double least = witness.value(Signal::worker_least).value_or(most);
  const double idle = evidence.cpus() - witness.value(Signal::job_cores).value_or(0);
  if (evidence.workers() > 1 && least < 0.5 * most) {
    judgement.cause = "slow_worker";
    judgement.finding.advice = "find what the slow worker does: one sample may be far larger";
  } else if (idle > 0.3) {
    judgement.cause = "few_workers";
    judgement.finding.advice = fmt::format(
        "use more than {} for loading: num_workers (PyTorch), num_parallel_calls (tf.data)",
        counted(evidence.workers(), "worker"));
  } else {
    judgement.cause = "decoding";
    judgement.finding.advice = "make a sample cheaper to load: smaller images, decoded once";
  }
  const double waits = *witness.value(Signal::main_blocked);
  const double device_busy = evidence.uses_gpu() ? witness.value(Signal::gpu_busy).value_or(0) : 0;
  judgement.share = std::clamp(waits, 0.0, std::min(0.99, 1 - device_busy));
  judgement.finding.summary = fmt::format(
      "the main thread is blocked {:.0f} % of the time while a loading worker runs at "
      "{:.0f} % of a core",
      100 * waits, 100 * most);
  return judgement;
}

}  // namespace

extern const Rule input_workers_rule;
const Rule input_workers_rule = {
    .name = "input_workers",
    .verdict = "input_bound",
    .summary = "the main thread waits for busy loading workers",
    .needs = "job.thread.time",
    .judge = judge,
};

}  // namespace trainscope
