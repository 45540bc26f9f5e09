// idle: a job that neither computes nor reads.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/support/rule.h"
#include "base/text.h"

namespace trainscope::idle_rule {

namespace {

// What one core can receive: more than that of the machine's traffic is not the job's.
constexpr double kReceivedPerCore = 2e9;

// What the machine receives, as far as the job can have received it.
double receives(Witness& witness) {
  const auto all = witness.value(Signal::network_bytes), cores = witness.value(Signal::job_cores);
  if (!all || !cores) return 0;
  const double received = std::min(*all, kReceivedPerCore * *cores);
  const double found =
      witness.degree("received from the network, as far as by this job", received, 1e6, 10e6);
  witness.last_seen().unit = "By/s";
  witness.last_seen().metric = signal_metric(Signal::network_bytes);
  return found;
}

// A client of a server does nothing itself while others do the work: docker run, srun, ray.
double works_elsewhere(Witness& witness) {
  const double others = witness.degree("CPU of others", witness.evidence().others_cores(), 0.3, 1);
  witness.last_seen().unit = "cores";
  const bool is_foreign_gpu = !witness.evidence().uses_gpu();
  return std::max(others, is_foreign_gpu ? witness.degree(Signal::gpu_busy, 0.02, 0.1) : 0);
}

Judgement judge(Witness& witness) {
  const Evidence& evidence = witness.evidence();
  Judgement judgement;
  if (evidence.knows_input()) return judgement;
  const auto cores = witness.value(Signal::job_cores);
  if (!cores) return judgement;
  double quiet = witness.degree(Signal::job_cores, 0.25, 0.06);
  quiet *= witness.without(Signal::read_bytes, 0.1e6, 1e6);
  quiet *= witness.without(Signal::disk_read_bytes, 0.1e6, 1e6);
  quiet *= witness.without(Signal::disk_write_bytes, 0.1e6, 1e6);
  quiet *= witness.aside([&] { return 1 - receives(witness); });
  if (evidence.uses_gpu()) quiet *= witness.without(Signal::gpu_busy, 0.02, 0.1);
  const double elsewhere = witness.aside([&] { return works_elsewhere(witness); });
  judgement.strength = 0.9 * quiet * (1 - 0.6 * elsewhere);
  if (!(judgement.strength > 0)) return judgement;
  judgement.share = std::clamp(1 - *cores, 0.0, 1.0);
  judgement.finding.summary =
      fmt::format("the job uses {:.0f} % of a core and reads nothing", 100 * *cores);
  judgement.finding.advice = "look at what it waits for: a lock, a server, a sleep";
  if (elsewhere > 0.5) {
    judgement.missing =
        "who does the work: the job does next to nothing while others are busy; if it is a client "
        "(docker run, srun, ray job submit), record the command that it starts, or use: trainscope "
        "attach PID";
  }
  return judgement;
}

}  // namespace

extern const Rule entry;
const Rule entry = {
    .name = "idle",
    .verdict = "idle",
    .summary = "the job does next to nothing",
    .needs = "job.cpu.time",
    .judge = judge,
};

}  // namespace trainscope::idle_rule
