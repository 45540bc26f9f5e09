// input_storage: an unmodified job whose main thread waits for reads from storage.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/support/reached_limits.h"
#include "analyze/support/rule.h"
#include "base/text.h"

namespace trainscope::input_storage_rule {

namespace {

Judgement judge(Witness& witness) {
  const Evidence& evidence = witness.evidence();
  Judgement judgement;
  if (evidence.knows_input()) return judgement;  // what the job reports is better
  const double reads = witness.degree(Signal::disk_read_bytes, 0.3e6, 2e6);
  const double on_disk = witness.degree(Signal::main_on_disk, 0.08, 0.25);
  // That some thread waits for storage says nothing of the training while a pool computes: others
  // read ahead for it.
  const double pressure =
      witness.degree(Signal::io_pressure, 0.1, 0.35) * (1 - witness.pools_compute());
  const double waits = std::max(on_disk, 0.9 * pressure);
  const double blocked =
      witness.value(Signal::main_blocked) ? witness.degree(Signal::main_blocked, 0.1, 0.25) : 0.8;
  judgement.strength = 0.92 * reads * waits * blocked;
  if (evidence.uses_gpu()) {  // a busy device hides the waiting
    judgement.strength *= witness.without(Signal::gpu_busy, 0.75, 0.95);
  }
  if (!(judgement.strength > 0)) return judgement;
  const bool is_cold = witness.has_warmed_up();
  judgement.cause = is_cold ? "cold_cache" : "storage";
  judgement.share =
      std::min(0.99, std::max(witness.value(Signal::main_on_disk).value_or(0),
                              std::min(witness.value(Signal::main_blocked).value_or(1),
                                       witness.value(Signal::io_pressure).value_or(0))));
  judgement.lost = witness.device_bound(judgement.share);
  judgement.finding.summary =
      fmt::format("the job reads {}/s {} and waits for it about {:.0f} % of the time",
                  bytes_text(*witness.value(Signal::disk_read_bytes)),
                  disk_limit_text(evidence).value_or("from storage"), 100 * judgement.share);
  add_limit_evidence(evidence, "disk.read.", judgement.finding);
  judgement.finding.advice = witness.advice(is_cold ? Advice::warm_cache : Advice::faster_storage);
  if (!is_cold && evidence.workers() == 0 && judgement.lost) {
    judgement.gain = Witness::gain_of_overlap(judgement.share, *judgement.lost);
    judgement.gain_by = "reading one batch ahead alone";
  }
  return judgement;
}

}  // namespace

extern const Rule entry;
const Rule entry = {
    .name = "input_storage",
    .verdict = "input_bound",
    .summary = "the main thread waits for storage",
    .needs = "job.thread.time or system.pressure.time",
    .judge = judge,
};

}  // namespace trainscope::input_storage_rule
