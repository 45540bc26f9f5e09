// input_small_files: an unmodified job whose CPU time goes into many small reads.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/support/rule.h"
#include "base/text.h"

namespace trainscope::input_small_files_rule {

namespace {

Judgement judge(Witness& witness) {
  const Evidence& evidence = witness.evidence();
  Judgement judgement;
  if (evidence.knows_input()) return judgement;  // what the job reports is better
  judgement.strength = 0.9 * witness.small_reads();
  if (evidence.uses_gpu()) {
    judgement.strength *= witness.without(Signal::gpu_busy, 0.75, 0.95);
  }
  if (!(judgement.strength > 0)) return judgement;
  const double calls = *witness.value(Signal::read_calls);
  judgement.cause = "small_files";
  judgement.share = std::min(0.99, *witness.value(Signal::kernel_cores));
  // CPU time of one thread is time; that of several is not. What the program itself does for each
  // file is not known, so that this bounds nothing.
  if (*witness.value(Signal::job_cores) <= 1.05) {
    judgement.lost = witness.device_bound(judgement.share);
    judgement.is_lost_at_least = true;
  }
  judgement.finding.summary = fmt::format(
      "the job reads {} times per second, {} each on average, and spends {:.0f} % of its CPU time "
      "in the kernel",
      number_text(calls), bytes_text(*witness.value(Signal::read_bytes) / calls),
      100 * *witness.value(Signal::kernel_cores) / *witness.value(Signal::job_cores));
  judgement.finding.advice = witness.advice(Advice::larger_files);
  return judgement;
}

}  // namespace

extern const Rule entry;
const Rule entry = {
    .name = "input_small_files",
    .verdict = "input_bound",
    .summary = "many small reads take the CPU time",
    .needs = "job.io.calls and job.cpu.time",
    .judge = judge,
};

}  // namespace trainscope::input_small_files_rule
