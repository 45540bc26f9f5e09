// input_mount: an unmodified job whose main thread waits for files that no local disk delivers.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/support/rule.h"
#include "base/text.h"

namespace trainscope::input_mount_rule {

namespace {

Judgement judge(Witness& witness) {
  const Evidence& evidence = witness.evidence();
  Judgement judgement;
  if (evidence.knows_input()) return judgement;  // what the job reports is better
  const auto read = witness.value(Signal::read_bytes),
             local = witness.value(Signal::disk_read_bytes);
  if (!read || !local || !(*read > 0)) return judgement;
  const double reads = witness.degree(Signal::read_bytes, 0.3e6, 2e6);
  const double remote = witness.share_degree("share of the reads that reaches a local disk",
                                             *local / *read, 0.5, 0.1);
  const double on_disk = witness.degree(Signal::main_on_disk, 0.08, 0.25);
  const double blocked = witness.degree(Signal::main_blocked, 0.1, 0.25);
  judgement.strength = 0.9 * reads * remote * on_disk * blocked;
  if (!(judgement.strength > 0)) return judgement;
  judgement.cause = "network_storage";
  judgement.share =
      std::min({0.99, *witness.value(Signal::main_on_disk), *witness.value(Signal::main_blocked)});
  judgement.lost = witness.device_bound(judgement.share);
  judgement.finding.summary = fmt::format(
      "the job reads {}/s, which no local disk delivers, and waits for it about {:.0f} % of the "
      "time",
      bytes_text(*read), 100 * judgement.share);
  judgement.finding.advice = witness.advice(Advice::local_copy);
  return judgement;
}

}  // namespace

extern const Rule entry;
const Rule entry = {
    .name = "input_mount",
    .verdict = "input_bound",
    .summary = "the main thread waits for a network or FUSE file system",
    .needs = "job.thread.blocked and job.io.bytes",
    .judge = judge,
};

}  // namespace trainscope::input_mount_rule
