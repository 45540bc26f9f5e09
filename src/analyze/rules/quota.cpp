// quota: the CPU limit of the job's cgroup.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/support/rule.h"
#include "base/text.h"

namespace trainscope {

namespace {

Judgement judge(Witness& witness) {
  Judgement judgement;
  judgement.strength = 0.95 * witness.degree(Signal::throttled, 0.05, 0.2);
  if (!(judgement.strength > 0)) return judgement;
  judgement.share = std::min(0.95, *witness.value(Signal::throttled));
  judgement.finding.summary =
      fmt::format("the CPU limit stops the job {:.0f} % of the time", 100 * judgement.share);
  judgement.finding.advice =
      "raise the CPU limit (cpu.max, --cpus, limits.cpu), or use fewer threads";
  return judgement;
}

}  // namespace

extern const Rule quota_rule;
const Rule quota_rule = {
    .name = "quota",
    .verdict = "quota_bound",
    .summary = "the CPU limit of the container stops the job",
    .needs = "cgroup.cpu.throttled_time",
    .judge = judge,
};

}  // namespace trainscope
