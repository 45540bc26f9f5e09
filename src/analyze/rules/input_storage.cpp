// input_storage: an unmodified job whose main thread waits for reads from storage.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/support/reached_limits.h"
#include "analyze/support/rule.h"
#include "base/text.h"

namespace trainscope::input_storage_rule {

namespace {

struct Waiting {
  double degree = 0, share = 0;
};

// Uninterruptible is also who waits for a lock of the kernel, or for a driver. Where the kernel
// measured some waiting, and local disks deliver what is read, more of that state counts half.
Waiting of_main(Witness& witness) {
  const double seen = witness.degree(Signal::main_on_disk, 0.08, 0.25);
  const double seen_share = witness.value(Signal::main_on_disk).value_or(0);
  const double measured = witness.value(Signal::main_delayed).value_or(0);
  if (!(measured > 0)) return {seen, seen_share};
  const double exact = witness.degree(Signal::main_delayed, 0.08, 0.25);
  const auto read = witness.value(Signal::read_bytes),
             local = witness.value(Signal::disk_read_bytes);
  const double is_local = witness.aside([&] {
    return read && local && *read > 0
               ? witness.share_degree("share of the reads that reaches a local disk",
                                      *local / *read, 0.5, 0.9)
               : 0;
  });
  const double rest = seen * (1 - 0.5 * is_local);
  return exact >= rest ? Waiting{exact, measured} : Waiting{rest, seen_share};
}

// A loading worker that waits for storage, and has little time left in which it could read ahead.
Waiting of_workers(Witness& witness) {
  const auto delayed = witness.value(Signal::worker_delayed);
  if (!delayed) return {};
  const double waits = witness.degree(Signal::worker_delayed, 0.3, 0.6);
  const double busy =
      witness.share_degree("busiest worker running or waiting for block I/O",
                           *delayed + witness.value(Signal::worker_most).value_or(0), 0.6, 0.85);
  return waits * busy > 0 ? Waiting{waits * busy, *delayed} : Waiting{};
}

Judgement judge(Witness& witness) {
  const Evidence& evidence = witness.evidence();
  Judgement judgement;
  if (evidence.knows_input()) return judgement;  // what the job reports is better
  const double reads = witness.degree(Signal::disk_read_bytes, 0.3e6, 2e6);
  const Waiting main_thread = of_main(witness), workers = of_workers(witness);
  // That some thread waits for storage says nothing of the training while a pool computes: others
  // read ahead for it.
  const double others = std::max(witness.degree(Signal::io_pressure, 0.1, 0.35), workers.degree) *
                        (1 - witness.pools_compute());
  const double waits = std::max(main_thread.degree, 0.9 * others);
  const double blocked =
      witness.value(Signal::main_blocked) ? witness.degree(Signal::main_blocked, 0.1, 0.25) : 0.8;
  judgement.strength = 0.92 * reads * waits * blocked;
  if (evidence.uses_gpu()) {  // a busy device hides the waiting
    judgement.strength *= witness.without(Signal::gpu_busy, 0.75, 0.95);
  }
  if (!(judgement.strength > 0)) return judgement;
  const bool is_cold = witness.has_warmed_up();
  judgement.cause = is_cold ? "cold_cache" : "storage";
  judgement.share = std::min(
      0.99,
      std::max(main_thread.share,
               std::min(witness.value(Signal::main_blocked).value_or(1),
                        std::max(witness.value(Signal::io_pressure).value_or(0), workers.share))));
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
