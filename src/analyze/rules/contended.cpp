// contended: neighbours on the machine, or the hypervisor, take CPU time that the job waits for.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/support/rule.h"
#include "base/text.h"

namespace trainscope::contended_rule {

namespace {

// How far the job waits for a core. Where that is not known of its main thread: tasks of the
// machine wait, and the job is one that computes, not one that sleeps while others wait.
double waits_for_core(Witness& witness) {
  const double own = witness.degree(Signal::main_runnable, 0.08, 0.25);
  if (witness.value(Signal::main_runnable)) return own;
  return witness.degree(Signal::cpu_pressure, 0.2, 0.5) *
         witness.degree(Signal::job_cores, 0.06, 0.25);
}

// How far all of the job's cgroup waits while others, or its limit, have the CPU: not behind tasks
// of its own. Others within the cgroup are not seen there, so that little of it says nothing.
double is_held_up(Witness& witness) {
  return witness.value(Signal::cpu_held_up) ? witness.degree(Signal::cpu_held_up, 0.1, 0.3) : 0;
}

Judgement judge(Witness& witness) {
  const Evidence& evidence = witness.evidence();
  Judgement judgement;
  const auto others = evidence.others_cores();
  const double strangers = witness.strangers(0.12, 0.35);
  const double stolen =
      witness.degree(Signal::steal_cores, 0.1 * evidence.seen_cpus(), 0.3 * evidence.seen_cpus());
  const double alone = waits_for_core(witness), held_up = is_held_up(witness);
  const double waits = std::max(alone, held_up);
  judgement.strength = 0.9 * std::max(strangers * waits, stolen);
  // A job that its own CPU limit stops waits for a CPU as well.
  judgement.strength *= witness.left_by_limit();
  if (!(judgement.strength > 0)) return judgement;
  // What waiting elsewhere than in the main thread costs the job is not known.
  const bool is_elsewhere = held_up > alone;
  const auto waited = witness.value(is_elsewhere ? Signal::cpu_held_up : Signal::main_runnable);
  const bool is_stolen = stolen > strangers * waits;
  judgement.share = std::min(0.99, waited.value_or(0));
  if (is_stolen) {
    // A thread whose CPU is taken does not wait for one: what it costs the job is not known.
    const double cores = *witness.value(Signal::steal_cores);
    judgement.share = std::max(judgement.share, std::min(0.99, cores / evidence.seen_cpus()));
    judgement.finding.summary = fmt::format("the hypervisor takes {} of {} cores",
                                            number_text(cores), number_text(evidence.seen_cpus()));
  } else {
    if (waited && !is_elsewhere) judgement.lost = witness.device_bound(judgement.share);
    if (!waited || is_elsewhere) judgement.severity = "warning";
    judgement.finding.summary = fmt::format("others use {} of {} cores", number_text(*others),
                                            number_text(evidence.seen_cpus()));
  }
  if (waited) {
    judgement.finding.summary +=
        fmt::format(", and the job waits for a core {:.0f} % of the time", 100 * *waited);
  }
  judgement.finding.advice =
      is_stolen ? "use a virtual machine with dedicated CPUs, or ask who else is on its host"
                : "run it alone, or ask for cores of your own";
  return judgement;
}

}  // namespace

extern const Rule entry;
const Rule entry = {
    .name = "contended",
    .verdict = "contended",
    .summary = "others take the CPU",
    .needs = "system.cpu.time",
    .judge = judge,
};

}  // namespace trainscope::contended_rule
