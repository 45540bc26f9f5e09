// input_wait: waiting for data, as the job reports it.
//
// The share of input in the time of the steps decides; what the machine did meanwhile gives the
// cause. On a GPU the wait costs nothing while the device has work queued: only waits count before
// which it ran dry. Where that is not known, a busy GPU speaks against it.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/support/reached_limits.h"
#include "analyze/support/rule.h"
#include "base/text.h"

namespace trainscope::input_wait_rule {

namespace {

// Whose work the main thread waited for.
std::string cause_of(Witness& witness, double share) {
  const auto running = witness.value(Signal::main_running);
  const double computing = 1 - share;
  if (witness.degree(Signal::worker_most, 0.6, 0.85) > 0.5) return witness.cause_in_workers();
  if (witness.small_reads() > 0.5) return "small_files";
  // The thread that waits is itself busy with the data.
  if (running && *running > computing + 0.5 * share) return "decoding";
  const double on_disk = witness.waits_for_storage(0.1 * share, 0.5 * share);
  const double pressure = witness.degree(Signal::io_pressure, 0.1 * share, 0.5 * share);
  const double workers = witness.value(Signal::worker_delayed)
                             ? witness.degree(Signal::worker_delayed, 0.1 * share, 0.5 * share)
                             : 0;
  if (std::max({on_disk, pressure, workers}) > 0.5 &&
      witness.degree(Signal::disk_read_bytes, 0.2e6, 1e6) > 0.5) {
    return witness.has_warmed_up() ? "cold_cache" : "storage";
  }
  const bool reads = witness.degree(Signal::read_bytes, 0.2e6, 1e6) > 0.5;
  return on_disk > 0.5 && reads ? "network_storage" : "";
}

Advice advice_for(const std::string& cause) {
  if (cause == "storage") return Advice::faster_storage;
  if (cause == "cold_cache") return Advice::warm_cache;
  if (cause == "network_storage") return Advice::local_copy;
  if (cause == "small_files") return Advice::larger_files;
  if (cause == "slow_worker") return Advice::slow_worker;
  if (cause == "few_workers") return Advice::more_workers;
  return cause == "decoding" ? Advice::decode_in_workers : Advice::load_ahead;
}

// Less than a tenth of the time in waits of a millisecond is what handing over a batch takes.
bool is_handing_over(const Evidence& evidence, double share) {
  constexpr double kMuch = 0.1, kNoticeableS = 0.002;
  const auto steps = static_cast<double>(evidence.reported().steps());
  return share < kMuch && steps > 0 && share * evidence.training_s() / steps < kNoticeableS;
}

// Whether the first batches of epochs take most of the waiting: workers that are started again, or
// a buffer that is filled again.
bool is_by_starts(const Evidence& evidence, double share) {
  const TimeWindows& windows = evidence.windows();
  const double starts_s = evidence.reported().start_waits_s(windows.begin_s, windows.end_s());
  return starts_s > 0.5 * share * evidence.training_s();
}

// What the advice brings: of one thread that loads and trains, loading beside the training.
void advise(Witness& witness, Judgement& judgement) {
  const std::string& cause = judgement.cause;
  if (is_by_starts(witness.evidence(), judgement.share)) {
    judgement.finding.summary += ", most of it for the first batches of later epochs";
    judgement.finding.advice = witness.advice(Advice::start_ahead);
    return;
  }
  judgement.finding.advice = witness.advice(advice_for(cause));
  const bool is_by_workers = cause == "few_workers" || cause == "decoding";
  const auto workers = is_by_workers ? witness.workers_to_keep_up(judgement.share) : std::nullopt;
  const int64_t have = witness.evidence().workers();
  if (cause == "few_workers" && have < Evidence::kMostWorkers) {
    judgement.finding.advice += fmt::format("; it had {}", have);
  }
  if (workers) {
    judgement.finding.advice +=
        fmt::format("; about {} would keep up", counted(*workers, "worker"));
  }
  if (have > 0 || cause == "cold_cache" || cause == "small_files") return;
  judgement.gain = witness.gain_of_loading_ahead(judgement.share);
  judgement.gain_by = "loading one batch ahead alone";
}

Judgement judge(Witness& witness) {
  const Evidence& evidence = witness.evidence();
  Judgement judgement;
  const auto share = evidence.lost_input();
  if (!share) return judgement;
  judgement.strength = 0.97 * witness.input_wait() * witness.weight(*share);
  judgement.share = *share;
  judgement.is_reported = true;
  if (evidence.uses_gpu() && !evidence.reported().dry_share()) {
    judgement.strength *= witness.without(Signal::gpu_busy, 0.75, 0.95);
    judgement.share = witness.device_bound(*share).value_or(0);
  }
  if (!(judgement.share > 0)) return judgement;
  judgement.lost = judgement.share;
  judgement.cause = witness.found_by([&] { return cause_of(witness, *share); });
  if (is_handing_over(evidence, judgement.share)) judgement.severity = "info";
  judgement.finding.summary =
      fmt::format("{:.0f} % of the step time is spent waiting for data", 100 * *share);
  judgement.finding.evidence = {fmt::format("input: {} of {} (train.input_wait)",
                                            duration_text(*share * evidence.training_s()),
                                            duration_text(evidence.training_s()))};
  const auto limit = disk_limit_text(evidence);
  if (judgement.cause == "storage" && limit) {
    judgement.finding.summary += fmt::format(
        "; the job reads {}/s {}", bytes_text(*witness.value(Signal::disk_read_bytes)), *limit);
    add_limit_evidence(evidence, "disk.read.", judgement.finding);
  }
  advise(witness, judgement);
  return judgement;
}

}  // namespace

extern const Rule entry;
const Rule entry = {
    .name = "input_wait",
    .verdict = "input_bound",
    .summary = "the job reports that it waits for data",
    .needs = "input phases",
    .judge = judge,
};

}  // namespace trainscope::input_wait_rule
