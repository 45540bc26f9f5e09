// quota: the CPU limit of the job's cgroup.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/support/rule.h"
#include "base/text.h"

namespace trainscope::quota_rule {

namespace {

// The time is that of all stopped CPUs together: with the time that ran it is what was wanted.
std::optional<double> lost_share(const Witness& witness) {
  const auto stopped = witness.value(Signal::throttled), ran = witness.value(Signal::job_cores);
  if (!stopped || !ran || !(*stopped + *ran > 0)) return std::nullopt;
  return *stopped / (*stopped + *ran);
}

Judgement judge(Witness& witness) {
  Judgement judgement;
  const auto lost = lost_share(witness);
  judgement.strength =
      0.95 * witness.share_degree("CPU time that the limit withholds", lost, 0.05, 0.2);
  if (judgement.strength > 0) judgement.strength *= witness.waits_under_limit();
  if (!(judgement.strength > 0)) return judgement;
  judgement.share = std::min(0.99, *lost);
  judgement.lost = judgement.share;
  judgement.finding.summary = fmt::format(
      "the CPU limit withholds {:.0f} % of the CPU time that the job wants", 100 * judgement.share);
  judgement.finding.advice =
      "raise the CPU limit (cpu.max, --cpus, limits.cpu), or use fewer threads";
  return judgement;
}

}  // namespace

extern const Rule entry;
const Rule entry = {
    .name = "quota",
    .verdict = "quota_bound",
    .summary = "the CPU limit of the container stops the job",
    .needs = "cgroup.cpu.throttled_time",
    .judge = judge,
};

}  // namespace trainscope::quota_rule
