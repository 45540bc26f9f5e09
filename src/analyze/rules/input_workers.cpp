// input_workers: an unmodified job whose main thread waits while its loading workers are busy.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/support/rule.h"
#include "base/text.h"

namespace trainscope::input_workers_rule {

namespace {

Advice advice_for(const std::string& cause) {
  if (cause == "slow_worker") return Advice::slow_worker;
  if (cause == "few_workers") return Advice::more_workers;
  return cause == "small_files" ? Advice::larger_files : Advice::decode_less;
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
  judgement.finding.advice = witness.advice(advice_for(judgement.cause));
  if (judgement.cause == "few_workers" && evidence.workers() < Evidence::kMostWorkers) {
    judgement.finding.advice += fmt::format("; it had {}", evidence.workers());
  }
  const double waits = *witness.value(Signal::main_blocked);
  // With a GPU the main thread waits for that too.
  const bool is_all_loading = judgement.cause == "few_workers" && !evidence.uses_gpu();
  if (const auto wanted = is_all_loading ? witness.workers_to_keep_up(waits) : std::nullopt) {
    judgement.finding.advice += fmt::format("; about {} would keep up", counted(*wanted, "worker"));
  }
  judgement.share = std::min(0.99, waits);
  judgement.lost = witness.device_bound(judgement.share);
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
    .needs = "job.thread.time",
    .judge = judge,
};

}  // namespace trainscope::input_workers_rule
