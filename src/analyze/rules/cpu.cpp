// cpu: the processor: one thread, all cores, or more threads than cores.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyze/support/rule.h"
#include "base/text.h"

namespace trainscope::cpu_rule {

namespace {

// The share of time in which some thread of the job computes.
double computing(Witness& witness) {
  const auto main = witness.value(Signal::main_running);
  const auto other = witness.value(Signal::other_running);
  const double threads = std::max(main ? witness.degree(Signal::main_running, 0.6, 0.85) : 0,
                                  other ? witness.degree(Signal::other_running, 0.7, 0.92) : 0);
  if (main || other) return threads;
  return witness.degree(Signal::job_cores, 0.6, 0.85);
}

// Nothing else of the job computes next to its busiest thread.
bool is_single_thread(Witness& witness, double cores) {
  double busiest = 0;
  for (const Signal signal : {Signal::main_running, Signal::other_running, Signal::worker_most}) {
    busiest = std::max(busiest, witness.value(signal).value_or(0));
  }
  if (!(busiest > 0)) return cores < 1.2;
  // Both are read one after the other, so that the thread may seem to have more.
  const double others = std::max(0.0, cores - busiest);
  const double alone =
      witness.degree("CPU of the job besides its busiest thread", others, 0.4, 0.2);
  witness.last_seen().unit = "cores";
  return alone > 0.5;
}

// How far tasks wait for each other. Of the job's own cgroup, what others or its limit make it wait
// is known and taken off.
double is_crowded(Witness& witness) {
  const auto waiting = witness.value(Signal::cpu_pressure);
  const auto held_up = witness.value(Signal::cpu_held_up);
  if (!waiting || !held_up) return witness.degree(Signal::cpu_pressure, 0.5, 0.8);
  return witness.share_degree("time in which tasks of the job waited for each other",
                              std::max(0.0, *waiting - *held_up), 0.5, 0.8);
}

// Of the time, what is not spent on what other rules are about. Cores that loading workers fill
// while the main thread waits for them are input.
double left_by_others(Witness& witness) {
  return witness.aside([&] {
    return Witness::left_by(witness.input_wait()) * Witness::left_by(witness.checkpoints()) *
           Witness::left_by(witness.communication()) * (1 - witness.small_reads()) *
           (1 - witness.waits_for_workers());
  });
}

Judgement judge(Witness& witness) {
  const Evidence& evidence = witness.evidence();
  Judgement judgement;
  const auto cores = witness.value(Signal::job_cores);
  if (!cores) return judgement;
  const double all = witness.share_degree("CPU of the job per core that it may use",
                                          *cores / evidence.cpus(), 0.7, 0.88);
  const double one = computing(witness);
  judgement.strength = 0.92 * std::max(all, one);
  judgement.strength *= left_by_others(witness);
  if (evidence.uses_gpu()) judgement.strength *= 0.3;
  judgement.strength *= witness.left_by_limit();
  if (!(judgement.strength > 0)) return judgement;
  double waits = 0, strangers = 0;
  const auto crowd = [&]() -> std::string {
    waits = std::max(witness.degree(Signal::main_runnable, 0.15, 0.35), all * is_crowded(witness));
    strangers = witness.aside([&] { return witness.strangers(0.1, 0.3); });
    return all > 0.5 && waits * (1 - strangers) > 0.5 ? "oversubscribed" : "";
  };
  const bool is_oversubscribed = !witness.found_by(crowd).empty();
  judgement.strength *= 1 - 0.7 * strangers * waits;
  const bool is_single = is_single_thread(witness, *cores);
  judgement.cause = is_oversubscribed ? "oversubscribed"
                    : all > 0.5       ? "all_cores"
                    : is_single       ? "single_thread"
                                      : "";
  judgement.finding.summary = fmt::format("the job uses {} of {} it may use", number_text(*cores),
                                          counted(std::lround(evidence.cpus()), "core"));
  if (is_oversubscribed) {
    // All cores do the job's work: what fewer threads would win is not known.
    const double waited = witness.value(Signal::main_runnable).value_or(0);
    judgement.share = std::min(0.99, waited);
    judgement.finding.summary +=
        fmt::format(", and its threads wait for each other {:.0f} % of the time", 100 * waited);
    judgement.finding.advice = witness.advice(Advice::fewer_threads);
  } else if (is_single && all <= 0.5 && evidence.cpus() > 1.5) {
    judgement.finding.summary += ": one thread computes";
    judgement.finding.advice = witness.advice(Advice::more_threads);
  }
  return judgement;
}

}  // namespace

extern const Rule entry;
const Rule entry = {
    .name = "cpu",
    .verdict = "cpu_bound",
    .summary = "the job computes all the time",
    .needs = "job.cpu.time",
    .judge = judge,
};

}  // namespace trainscope::cpu_rule
