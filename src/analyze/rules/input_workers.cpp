// input_workers: an unmodified job whose main thread waits while its loading workers are busy.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyze/support/rule.h"
#include "base/text.h"

namespace trainscope::input_workers_rule {

namespace {

Advice advice_for(const std::string& cause) {
  if (cause == "slow_worker") return Advice::slow_worker;
  if (cause == "few_workers") return Advice::more_workers;
  return cause == "small_files" ? Advice::larger_files : Advice::decode_less;
}

// More workers do no more than as many times what these did, and end no more than the waiting.
void advise_workers(Witness& witness, double waits, Judgement& judgement) {
  const Evidence& evidence = witness.evidence();
  if (judgement.cause != "few_workers" || evidence.workers() >= Evidence::kMostWorkers) return;
  judgement.finding.advice += fmt::format("; it had {}", evidence.workers());
  // With a GPU the main thread waits for that too.
  if (const auto wanted = evidence.uses_gpu() ? std::nullopt : witness.workers_to_keep_up(waits)) {
    judgement.finding.advice += fmt::format("; about {} would keep up", counted(*wanted, "worker"));
  }
  const double busy = witness.value(Signal::worker_most).value_or(0);
  const double most = std::floor(evidence.cpus());
  if (!judgement.lost || !(*judgement.lost < 1) || !(busy > 0)) return;
  const double others = static_cast<double>(evidence.workers() - 1);
  const double by_number = most / (busy + others * witness.value(Signal::worker_least).value_or(0));
  judgement.gain = std::max(1.0, std::min(by_number, 1 / (1 - *judgement.lost)));
  judgement.gain_by = fmt::format("up to {}", counted(static_cast<int64_t>(most), "worker"));
}

Judgement judge(Witness& witness) {
  const Evidence& evidence = witness.evidence();
  Judgement judgement;
  judgement.strength = 0.9 * witness.waits_for_workers();
  if (evidence.uses_gpu()) {
    judgement.strength *= witness.without(Signal::gpu_busy, 0.75, 0.95);
  }
  if (!(judgement.strength > 0)) return judgement;
  judgement.cause = witness.cause_in_workers();
  judgement.finding.advice = witness.advice(advice_for(judgement.cause));
  const double waits = *witness.value(Signal::main_blocked);
  judgement.share = std::min(0.99, waits);
  judgement.lost = witness.device_bound(judgement.share);
  advise_workers(witness, waits, judgement);
  judgement.finding.summary = fmt::format(
      "the main thread is blocked {:.0f} % of the time while a loading worker runs at "
      "{:.0f} % of a core",
      100 * waits, 100 * *witness.value(Signal::worker_most));
  return judgement;
}

}  // namespace

extern const Rule entry;
const Rule entry = {
    .name = "input_workers",
    .verdict = "input_bound",
    .summary = "the main thread waits for busy loading workers",
    .needs = "job.thread.time of loading workers",
    .judge = judge,
};

}  // namespace trainscope::input_workers_rule
