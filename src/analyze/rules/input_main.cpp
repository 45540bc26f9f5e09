// input_main: an unmodified job prepares its data itself while the GPU waits.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/support/rule.h"
#include "base/text.h"

namespace trainscope::input_main_rule {

namespace {

// One busy core and an idle GPU are also what a program looks like that launches small kernels:
// only what it reads, mostly from the page cache, tells the two apart. So it is never quite sure.
Judgement judge(Witness& witness) {
  const Evidence& evidence = witness.evidence();
  Judgement judgement;
  if (evidence.knows_input() || !evidence.uses_gpu() || evidence.workers() > 0) return judgement;
  const double idle = witness.device_idle();
  const double host = witness.degree(Signal::main_running, 0.6, 0.85);
  const double reads = witness.degree(Signal::read_bytes, 1e6, 5e6);
  judgement.strength = 0.75 * idle * host * reads;
  if (!(judgement.strength > 0)) return judgement;
  judgement.cause = "decoding";
  judgement.share = std::min(0.99, 1 - evidence.device_share().value_or(1));
  judgement.lost = witness.device_bound(judgement.share);
  judgement.finding.summary = fmt::format(
      "the GPU is idle {:.0f} % of the time while the main thread is busy and reads {}/s",
      100 * judgement.share, bytes_text(*witness.value(Signal::read_bytes)));
  judgement.finding.advice = witness.advice(Advice::decode_in_workers);
  if (judgement.lost && *judgement.lost > 0) {
    judgement.gain = Witness::gain_of_overlap(judgement.share, *judgement.lost);
    judgement.gain_by = "one worker, which loads one batch ahead";
  }
  return judgement;
}

}  // namespace

extern const Rule entry;
const Rule entry = {
    .name = "input_main",
    .verdict = "input_bound",
    .summary = "the main thread prepares the data while the GPU waits",
    .needs = "hw.gpu.utilization, job.thread.time and job.io.bytes",
    .judge = judge,
};

}  // namespace trainscope::input_main_rule
