// memory: memory that does not suffice: reclaim, pages read back, swapping.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/support/rule.h"
#include "base/text.h"

namespace trainscope::memory_rule {

namespace {

Judgement judge(Witness& witness) {
  Judgement judgement;
  const double pressure = witness.degree(Signal::memory_pressure, 0.05, 0.2);
  const double faults = witness.degree(Signal::major_faults, 100, 1000);
  const double swapping = witness.degree(Signal::swap_bytes, 1e6, 10e6);
  // Somebody else may cause the pressure of the whole machine: pages of the job must be missing
  // too.
  const bool is_own = witness.evidence().is_own(Signal::memory_pressure);
  const double counted = is_own ? pressure : pressure * (0.4 + 0.6 * std::max(faults, swapping));
  judgement.strength = 0.93 * std::max(counted, swapping * faults);
  if (!(judgement.strength > 0)) return judgement;
  judgement.share = std::min(0.99, witness.value(Signal::memory_pressure).value_or(0));
  if (is_own) judgement.lost = judgement.share;
  // Many kernels of clusters do not measure it (psi=0).
  if (!witness.value(Signal::memory_pressure)) judgement.severity = "warning";
  judgement.finding.summary =
      pressure > 0
          ? fmt::format("tasks wait for memory {:.0f} % of the time", 100 * judgement.share)
          : fmt::format("{}/s are swapped in and out",
                        bytes_text(*witness.value(Signal::swap_bytes)));
  judgement.finding.advice =
      "use less memory (smaller batch, fewer workers, fewer caches) or raise the memory limit";
  return judgement;
}

}  // namespace

extern const Rule entry;
const Rule entry = {
    .name = "memory",
    .verdict = "memory_pressure",
    .summary = "pages are reclaimed and read again",
    .needs = "system.pressure.time or job.paging.faults",
    .judge = judge,
};

}  // namespace trainscope::memory_rule
