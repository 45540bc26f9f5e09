// checkpoint: checkpoints, as the job reports them; of a job that does not report them: long steps
// in which it writes; without any phases also waiting for writes.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/support/rule.h"
#include "base/text.h"

namespace trainscope::checkpoint_rule {

namespace {

// Waiting for writes, seen in the state of the main thread.
double waits_for_writes(Witness& witness) {
  const double writes = witness.degree(Signal::disk_write_bytes, 1e6, 5e6);
  const double on_disk = witness.waits_for_storage(0.08, 0.25);
  const auto reads = witness.value(Signal::disk_read_bytes);
  const auto written = witness.value(Signal::disk_write_bytes);
  const double mostly = reads && written && *reads < 0.5 * *written ? 1 : 0.3;
  return writes * on_disk * mostly;
}

Judgement judge(Witness& witness) {
  const Evidence& evidence = witness.evidence();
  Judgement judgement;
  const double checkpoints = witness.checkpoints();
  if (const auto share = evidence.share("checkpoint")) {
    judgement.strength = 0.95 * checkpoints * witness.weight(*share);
    judgement.share = *share;
    judgement.is_reported = true;
    judgement.finding.summary =
        fmt::format("checkpoints take {:.0f} % of the time", 100 * judgement.share);
    judgement.finding.evidence = {fmt::format("checkpoint: {} of {}, as the job reports it",
                                              duration_text(*share * evidence.training_s()),
                                              duration_text(evidence.training_s()))};
  } else {
    const double waits = evidence.has_phases() ? 0 : waits_for_writes(witness);
    const double on_disk = std::max(witness.value(Signal::main_on_disk).value_or(0),
                                    witness.value(Signal::main_delayed).value_or(0));
    const double written = witness.value(Signal::disk_write_bytes).value_or(0);
    const bool is_by_steps = 0.85 * checkpoints >= 0.75 * waits;
    judgement.strength = std::max(0.85 * checkpoints, 0.75 * waits);
    judgement.share = is_by_steps ? evidence.saving_share().value_or(0) : on_disk;
    const std::string rate = bytes_text(written) + "/s";
    const double percent = 100 * judgement.share;
    judgement.finding.summary =
        is_by_steps
            ? fmt::format(
                  "long steps lose {1:.0f} % of the time while the job writes ({0} on average)",
                  rate, percent)
            : fmt::format("the main thread waits {:.0f} % of the time while it writes {}", percent,
                          rate);
  }
  judgement.lost = witness.device_bound(judgement.share);
  judgement.finding.advice = witness.advice(Advice::save_less);
  if (judgement.lost) {
    judgement.gain = 1 / (1 - 0.5 * *judgement.lost);
    judgement.gain_by = "saving half as often";
  }
  return judgement;
}

}  // namespace

extern const Rule entry;
const Rule entry = {
    .name = "checkpoint",
    .verdict = "checkpoint_bound",
    .summary = "saving the state takes much of the time",
    .needs = "phases; or steps, job.io.bytes and job.disk.io; or job.thread.time",
    .judge = judge,
};

}  // namespace trainscope::checkpoint_rule
