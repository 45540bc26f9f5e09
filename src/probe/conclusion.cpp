// What the effects of a probe mean together, and what they bound.
#include <fmt/format.h>

#include <algorithm>

#include "model/gain_text.h"
#include "probe/experiments.h"
#include "probe/probe.h"

namespace trainscope {

namespace {

std::string_view verdict_for(const ProbeResult& result, std::string_view what) {
  for (const ProbeEffect& effect : result.effects) {
    if (effect.what == what) return effect.verdict;
  }
  return kCannotTell;
}

// Of a job on a GPU whose input does not limit.
std::string device_conclusion(bool is_host_limiting, std::optional<double> device_busy) {
  const double percent = 100 * device_busy.value_or(0);
  // The sleep follows a backward pass: a job that has waited for the device since then has no work
  // queued that could hide it.
  if (is_host_limiting && device_busy && *device_busy > kDeviceBusy) {
    return fmt::format(
        "not launch-bound: the GPU is busy {:.0f} % of the time, and the host waits for it in each "
        "step",
        percent);
  }
  if (is_host_limiting && !device_busy) {
    return "the host thread is critical, proven; whether the GPU of the job is full as well is "
           "unknown";
  }
  if (is_host_limiting) return "launch-bound, proven";
  if (device_busy && *device_busy < kDeviceIdle) {
    return fmt::format(
        "the host waits for the GPU in each step, but the GPU is busy only {:.0f} % of the time",
        percent);
  }
  return "GPU-bound, proven";
}

// Of a job without a GPU whose training thread limits it, and whose input does not.
std::string processor_conclusion(const ProbeResult& result) {
  if (result.processors_wanted && *result.processors_wanted < kComputes) {
    return fmt::format(
        "host-bound, proven: the training thread limits but mostly waits (the job uses {:.2f} "
        "processors)",
        result.processors_used.value_or(0));
  }
  for (const ProbeEffect& effect : result.effects) {
    if (effect.what != kProcessors || !effect.ratio) continue;
    if (effect.verdict == kLimiting && !effect.has_own_threads) {
      return fmt::format(
          "CPU-bound, proven: with half of the processors steps take {:.2f} of the time",
          *effect.ratio);
    }
    if (effect.verdict == kNotLimiting) {
      return "CPU-bound, proven: half of the processors are enough, so single threads limit";
    }
  }
  return "CPU-bound, proven";
}

// No part of the advice can bring more than all of the input does.
void bound_advice(Finding& finding) {
  if (!finding.advice_speedup || *finding.advice_speedup <= *finding.max_speedup) return;
  const std::string before = gain_text(*finding.advice_speedup);
  finding.advice_speedup = finding.max_speedup;
  const size_t at = finding.advice.find(before);
  if (at != std::string::npos) {
    finding.advice.replace(at, before.size(), gain_text(*finding.max_speedup));
  }
}

}  // namespace

void bound_by_proof(const ProbeResult& result, Diagnosis& diagnosis) {
  const auto input = std::find_if(result.effects.begin(), result.effects.end(),
                                  [](const ProbeEffect& effect) { return effect.what == kInput; });
  if (input == result.effects.end() || input->verdict == kCannotTell) return;
  if (!(input->low.value_or(0) > 0)) return;
  for (Finding& finding : diagnosis.findings) {
    if (!finding.id.starts_with("input_") || !finding.max_speedup || finding.is_of_part) continue;
    finding.max_speedup = std::max(1.0, 1 / *input->low);
    bound_advice(finding);
  }
}

std::string probe_conclusion(const ProbeResult& result) {
  const std::string_view input = verdict_for(result, kInput), host = verdict_for(result, kHost);
  if (input == kLimiting) return "input-bound, proven";
  if (input != kNotLimiting || host == kCannotTell) return "";
  if (result.has_device) return device_conclusion(host == kLimiting, result.device_busy);
  return host == kLimiting ? processor_conclusion(result) : "";
}

}  // namespace trainscope
