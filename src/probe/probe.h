// `trainscope probe`: what the experiments in a run show.
//
// The modules inside the job changed one thing in some blocks of steps and reported the blocks as
// marks (docs/adr/0020). Here the recorded steps of neighbouring blocks are compared.
//
// Guarantees: a verdict other than cannot_tell means that the whole 95 % interval is on one side of
// its bound. Limits: an effect is one of this run, on this machine. Halved processors are
// supporting evidence: caches and memory channels are halved along with them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/finding.h"
#include "model/model.h"

namespace trainscope {

// Every mark of a probe begins like this.
inline constexpr std::string_view kProbeMark = "probe ";

inline constexpr std::string_view kLimiting = "limiting";
inline constexpr std::string_view kNotLimiting = "not_limiting";
inline constexpr std::string_view kCannotTell = "cannot_tell";

// Limiting: without waiting for input, steps take less than this of their usual time.
inline constexpr double kInputBound = 0.90;
// Limiting: with half of the processors, steps take more than this of their usual time.
inline constexpr double kProcessorsBound = 1.10;
// A GPU that is busy for more than this share of the time does not wait for the host; one that is
// busy for less than the other does not limit the job alone.
inline constexpr double kDeviceBusy = 0.90, kDeviceIdle = 0.70;
// A process that computes on fewer processors than this, or would, waits for something else.
inline constexpr double kComputes = 0.80;

struct ProbeEffect {
  std::string what;  // input, host, processors
  // Step time in changed blocks over that of their neighbours; empty: not measured, see `reason`.
  std::optional<double> ratio, low, high;
  std::string_view verdict = kCannotTell;
  int64_t blocks = 0;           // that were compared
  int64_t discarded_steps = 0;  // at the beginning of these blocks
  double slept_share = 0;       // of host: the time slept over the usual step time
  double planned_share = 0;     // of it, what was asked for; 0: unknown
  // Of input: the time to hand out a batch again over the usual step time. Input that really is
  // free does not take it, so `low` is what is left without it.
  double given_share = 0;
  // Of processors: the framework computed on as many threads as before, on half of the processors.
  bool has_own_threads = false;
  std::string reason;  // why there is no ratio
};

struct ProbeResult {
  std::vector<ProbeEffect> effects;  // input, host, processors, in that order
  bool has_device = false;           // the job computed on a GPU
  // Share of the blocks' time, of the busiest GPU that the job computes on; empty: unknown.
  std::optional<double> device_busy;
  std::optional<double> processors_used;  // by the job's process, in unchanged blocks
  // With the time for which the training thread waited for a processor: on a busy machine a job
  // that computes uses less than it would.
  std::optional<double> processors_wanted;
  bool has_replaced_input = false;  // then what the job learnt is not to be used
  std::string problem;              // why the experiments ended before their time; "": they did not

  bool is_anything_measured() const;
};

// Of a run in which nothing was changed: each effect has the reason and cannot be told.
ProbeResult nothing_measured(const std::string& reason);

// Nothing if no process of the run took part in a probe.
Result<std::optional<ProbeResult>> read_probe(const RunView& run);

// What a probed run reports of its input is a mixture of steps with and without their waits. So a
// bound of a finding about the input is that of the proof: the lower end of its interval. Nothing
// changes where the proof cannot tell, and in findings of a part of the run.
void bound_by_proof(const ProbeResult& result, Diagnosis& diagnosis);

// "without waiting for input steps take 0.58 [0.56, 0.60] of the time: input-bound, proven"
std::string effect_sentence(const ProbeEffect& effect);
// What the effects mean together: "input-bound, proven"; empty if they do not show it.
std::string probe_conclusion(const ProbeResult& result);

}  // namespace trainscope
