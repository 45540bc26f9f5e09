// launch: a half-idle GPU behind a main thread that is busy all the time.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "analyze/support/rule.h"
#include "base/text.h"

namespace trainscope::launch_rule {

namespace {

// With so few items per step a larger batch is the first thing to try, unless these fill the
// multiprocessors while the GPU computes.
constexpr double kSmallBatch = 16;

bool has_small_batch(Witness& witness) {
  const auto batch = witness.evidence().reported().batch();
  if (!batch) return false;
  const bool has_few =
      witness.degree("items per step", batch, 1.5 * kSmallBatch, 0.5 * kSmallBatch) >= 0.5;
  const auto active = witness.value(Signal::gpu_sm), busy = witness.value(Signal::gpu_busy);
  if (!active || !busy || !(*busy > 0)) return has_few;
  const double unfilled = witness.share_degree("multiprocessors active while the GPU computes",
                                               *active / *busy, 0.9, 0.6);
  return has_few && unfilled >= 0.5;
}

// What the main thread does besides launching, or may wait for, leaves less of the time to it.
double left_by_others(Witness& witness, const std::optional<double>& launching) {
  return witness.aside([&] {
    // Who reads much, or computes on many cores, prepares data.
    double left = 1 - 0.6 * witness.degree(Signal::read_bytes, 1e6, 5e6);
    if (const auto cores = witness.value(Signal::job_cores); cores && launching) {
      left *= 1 - 0.6 * witness.degree("CPU of the job besides these threads", *cores - *launching,
                                       1, 3);
      witness.last_seen().unit = "cores";
    }
    // A copy keeps the main thread busy as well.
    left *= 1 - 0.7 * witness.degree(Signal::gpu_copied, 2e9, 6e9);
    return left * Witness::left_by(witness.input_wait());
  });
}

Judgement judge(Witness& witness) {
  const Evidence& evidence = witness.evidence();
  Judgement judgement;
  if (!evidence.uses_gpu()) return judgement;
  const double idle = witness.device_idle();
  // PyTorch launches the backward pass from a thread of its own while the main thread waits for it.
  std::optional<double> launching = witness.value(Signal::main_running);
  if (launching) {
    *launching = std::min(1.0, *launching + witness.value(Signal::other_running).value_or(0));
  }
  const double host = launching ? witness.share_degree("main and busiest other thread running",
                                                       launching, 0.6, 0.85)
                                : 0.8 * witness.degree(Signal::job_cores, 0.6, 0.85);
  judgement.strength = 0.9 * idle * host * left_by_others(witness, launching);
  // A device that still has work queued does not wait for the program.
  if (const auto dry = evidence.reported().dry_share()) {
    judgement.strength *= witness.share_degree("steps before which the GPU ran dry", dry, 0.1, 0.4);
  }
  if (!(judgement.strength > 0)) return judgement;
  judgement.cause = has_small_batch(witness) ? "small_batch" : "host_code";
  // Kernels that fill few multiprocessors take their time all the same.
  judgement.share = std::min(0.99, 1 - evidence.device_share().value_or(1));
  judgement.lost = witness.device_bound(judgement.share);
  const auto active = witness.value(Signal::gpu_sm);
  judgement.finding.summary = fmt::format(
      "the GPU is idle {:.0f} % of the time{} while the threads that launch its work are busy",
      100 * judgement.share,
      active ? fmt::format(" (multiprocessors active {:.0f} %)", 100 * *active) : "");
  judgement.finding.advice = witness.advice(Advice::launch_less);
  return judgement;
}

}  // namespace

extern const Rule entry;
const Rule entry = {
    .name = "launch",
    .verdict = "launch_bound",
    .summary = "the GPU waits for the program that feeds it",
    .needs = "hw.gpu.utilization and job.thread.time",
    .judge = judge,
};

}  // namespace trainscope::launch_rule
