// A rule: one .cpp in rules/ that defines one constant `<stem>_rule`. It judges by the evidence of
// a run how far one verdict holds. The build lists the folder and generates rules().
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/analyze.h"
#include "analyze/support/evidence.h"
#include "model/finding.h"

namespace trainscope {

// Looks at evidence for a rule, and keeps what it looked at for `diagnose --explain`.
class Witness {
 public:
  explicit Witness(const Evidence& evidence) : evidence_(evidence) {}

  // How far a value speaks for something: 0 up to `low`, 1 from `high` on, and in between in
  // proportion. `low` above `high`: small values speak for it. Unknown is 0.
  double degree(Signal signal, double low, double high);
  // The same of a number that is no signal.
  double degree(std::string what, std::optional<double> value, double low, double high);
  // How far waiting for data, or for other ranks, takes the time of the steps, as the job reports
  // it. While a device has work queued, waiting for data takes nothing.
  double input_wait();
  double communication();
  // The same of checkpoints. Of an unmodified job: long steps are those in which it writes.
  double checkpoints();
  // How far the main thread waits for loading workers that are busy. Only their states are seen, so
  // this is for unmodified jobs.
  double waits_for_workers();
  // Why the workers are too slow; "": unknown.
  std::string cause_in_workers();
  // How far the job's CPU time goes into many small reads.
  double small_reads();
  // How far the GPU is idle, and how busy it is: by its multiprocessors where they are measured.
  double device_idle();
  std::optional<double> device_busy() const;
  // A value that is only shown.
  std::optional<double> value(Signal signal) const { return evidence_.mean(signal); }

  const Evidence& evidence() const { return evidence_; }
  std::vector<Diagnosis::Seen> take() { return std::move(seen_); }

 private:
  const Evidence& evidence_;
  std::vector<Diagnosis::Seen> seen_;
};

struct Judgement {
  double strength = 0;  // from 0 to 1
  std::string cause;    // "": unknown
  double share = 0;     // of the training's time that it takes; a bound for what can be won
  Finding finding;      // id, severity and times are filled in by the caller
};

}  // namespace trainscope
