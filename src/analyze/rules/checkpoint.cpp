// checkpoint: checkpoints, as the job reports them; of an unmodified job: waiting for writes.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/support/rule.h"
#include "base/text.h"

namespace trainscope {

namespace {

Judgement judge(Witness& witness) {
  const Evidence& evidence = witness.evidence();
  Judgement judgement;
  const auto share = evidence.share("checkpoint");
  if (share) {
    judgement.strength = 0.95 * witness.checkpoints();
    judgement.share = *share;
  } else if (!evidence.has_phases()) {
    const double writes = witness.degree(Signal::disk_write_bytes, 1e6, 5e6);
    const double on_disk = witness.degree(Signal::main_on_disk, 0.08, 0.25);
    const auto reads = witness.value(Signal::disk_read_bytes);
    const auto written = witness.value(Signal::disk_write_bytes);
    const double mostly = reads && written && *reads < 0.5 * *written ? 1 : 0.3;
    judgement.strength = 0.75 * writes * on_disk * mostly;
    judgement.share = witness.value(Signal::main_on_disk).value_or(0);
  }
  if (!(judgement.strength > 0)) return judgement;
  judgement.finding.summary =
      share ? fmt::format("checkpoints take {:.0f} % of the time", 100 * judgement.share)
            : fmt::format("the main thread waits {:.0f} % of the time while it writes {}/s",
                          100 * judgement.share,
                          bytes_text(*witness.value(Signal::disk_write_bytes)));
  judgement.finding.advice = "save less often, save in the background, or save to faster storage";
  return judgement;
}

}  // namespace

extern const Rule checkpoint_rule;
const Rule checkpoint_rule = {
    .name = "checkpoint",
    .verdict = "checkpoint_bound",
    .summary = "saving the state takes much of the time",
    .needs = "phases, or job.thread.time",
    .judge = judge,
};

}  // namespace trainscope
