// A rule: one .cpp in rules/ that defines one constant `<stem>_rule`. It judges by the evidence of
// a run how far one verdict holds. The build lists the folder and generates rules().
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/analyze.h"
#include "analyze/support/evidence.h"
#include "analyze/support/judged.h"
#include "analyze/support/observations.h"
#include "model/finding.h"

namespace trainscope {

// Looks at evidence for a rule, and keeps what it looked at for `diagnose --explain`.
class Witness : public Observations {
 public:
  explicit Witness(const Evidence& evidence) : evidence_(evidence) {}

  // The same of a signal.
  double degree(Signal signal, double low, double high);
  using Observations::degree;
  // What a signal that speaks against the rule leaves to it.
  double without(Signal signal, double low, double high) {
    return aside([&] { return 1 - degree(signal, low, high); });
  }
  // How far waiting for data, or for other ranks, takes the time of the steps, as the job reports
  // it. While a device has work queued, waiting for data takes nothing.
  double input_wait();
  double communication();
  // The same of checkpoints. Of a job that does not report them: long steps are those in which it
  // writes.
  double checkpoints();
  // How far the main thread waits for loading workers that are busy. Only their states are seen, so
  // this is for unmodified jobs.
  double waits_for_workers();
  // How far the main thread waits for storage: by the states in which it was seen, or as the kernel
  // measured it. Only what sleeps in its I/O wait is measured, so that little of it says nothing.
  double waits_for_storage(double low, double high);
  // How far other threads of the main process compute while its main thread is blocked: in pools,
  // as in TensorFlow. What the kernel does for threads that read is not computing.
  double pools_compute();
  // Whether reads came from storage at first, and from the page cache later.
  bool has_warmed_up();
  // How many times as fast steps are at most if a part of them runs beside the rest, of which a
  // device hides some already: `lost` is what it costs now.
  static double gain_of_overlap(double share, double lost) { return 1 / std::max(share, 1 - lost); }
  // The same of waiting for data, of which a wait that is longer than a step is not hidden.
  double gain_of_loading_ahead(double share) const;
  // How many loading workers would hide all of the loading; `waits`: the share of the time that it
  // costs now.
  std::optional<int64_t> workers_to_keep_up(double waits);
  // Why the workers are too slow; "": unknown.
  std::string cause_in_workers();
  // How far the job's CPU time goes into many small reads.
  double small_reads();
  // How far the GPU is idle: by its multiprocessors where they are measured.
  double device_idle();
  // How far neither its tensor cores nor its fp32 units are busy.
  double compute_units_idle();
  // Of a share of the time, what can be won at most: a device that computes meanwhile goes on doing
  // so. Empty: how busy the device is was not recorded.
  std::optional<double> device_bound(double share) const;
  // From 0.5 to 1: how near a reported share is to the largest of those that the job reports. Rules
  // that are all sure would otherwise not tell the larger part from the smaller one.
  double weight(double share);
  // What reported waits leave to a rule about what the job does meanwhile. Less than in proportion:
  // with half of each, both rules would stay below a verdict, though all of the time is known.
  static double left_by(double waits) { return 1 - waits * waits; }
  // How far the job waits where its limit stops somebody: a limit may be that of a cgroup around
  // several jobs. What it stops of this one is in the pressure of the job's own cgroup, averaged
  // over CPUs, so that some of it is enough. 1: unknown.
  double waits_under_limit();
  // What the CPU limit of the job leaves to a rule about another cause of waiting, or of computing.
  double left_by_limit();
  // How far others use the CPUs that the job may use.
  double strangers(double low, double high);
  // In the words of the framework that the job uses.
  std::string advice(Advice advice) const;
  // A value that is only shown.
  std::optional<double> value(Signal signal) const { return evidence_.mean(signal); }

  const Evidence& evidence() const { return evidence_; }

 private:
  const Evidence& evidence_;
};

}  // namespace trainscope
