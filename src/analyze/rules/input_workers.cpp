// input_workers: an unmodified job whose main thread waits while its loading workers are busy.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/support/rule.h"
#include "base/text.h"

namespace trainscope {

namespace {

std::string advice_for(const std::string& cause, int64_t workers) {
  if (cause == "slow_worker") return "find what the slow worker does: one sample may be far larger";
  if (cause == "few_workers") {
    return fmt::format(
        "use more than {} for loading: num_workers (PyTorch), num_parallel_calls (tf.data)",
        counted(workers, "worker"));
  }
  if (cause == "small_files") {
    return "store the samples in fewer, larger files (tar, TFRecord, LMDB)";
  }
  return "make a sample cheaper to load: smaller images, decoded once";
}

Judgement judge(Witness& witness) {
  const Evidence& evidence = witness.evidence();
  Judgement judgement;
  judgement.strength = 0.9 * witness.waits_for_workers();
  if (evidence.uses_gpu()) {
    judgement.strength *= 1 - witness.degree(Signal::gpu_busy, 0.75, 0.95);
  }
  if (!(judgement.strength > 0)) return judgement;
  judgement.cause = witness.cause_in_workers();
  judgement.finding.advice = advice_for(judgement.cause, evidence.workers());
  const double waits = *witness.value(Signal::main_blocked);
  const double device_busy = evidence.uses_gpu() ? witness.value(Signal::gpu_busy).value_or(0) : 0;
  judgement.share = std::clamp(waits, 0.0, std::min(0.99, 1 - device_busy));
  judgement.finding.summary = fmt::format(
      "the main thread is blocked {:.0f} % of the time while a loading worker runs at "
      "{:.0f} % of a core",
      100 * waits, 100 * *witness.value(Signal::worker_most));
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
