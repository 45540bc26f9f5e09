// What is found without a rule, and the causes of verdicts.
#include <algorithm>
#include <array>

#include "analyze/analyze.h"

namespace trainscope {

namespace {

constexpr std::array<OtherFinding, 8> kOtherFindings = {{
    {"pauses_*", "interruptions of the steps: input, checkpoint, evaluation, unexplained"},
    {"startup_*", "the same before the first step"},
    {"shutdown_*", "the same after the last step"},
    {"costliest_stalls",
     "the five interruptions that cost most, and what the machine did meanwhile, if they take 1 % "
     "of "
     "the time"},
    {"gpu_memory_nearly_full", "92 % or more of the memory of a GPU of the job was in use"},
    {"memory_nearly_full",
     "92 % or more of the memory of the job's control group, or of the machine, was in use"},
    {"startup", "much time before the first step"},
    {"shutdown", "much time after the last step"},
}};

constexpr std::array<Cause, 14> kCauses = {{
    {"input_bound", "storage", "reads from a local disk take the time"},
    {"input_bound", "network_storage", "reads from a network or FUSE file system take the time"},
    {"input_bound", "decoding", "preparing the samples takes the CPU"},
    {"input_bound", "few_workers", "the loading workers are busy while CPUs are idle"},
    {"input_bound", "slow_worker", "one loading worker has far more to do than another"},
    {"input_bound", "small_files", "many small reads take the CPU in the kernel"},
    {"input_bound", "cold_cache", "reads came from storage at first, and from memory later"},
    {"cpu_bound", "single_thread", "one thread computes all the time"},
    {"cpu_bound", "all_cores", "all CPUs that the job may use compute"},
    {"cpu_bound", "oversubscribed", "more threads compute than there are CPUs"},
    {"launch_bound", "small_batch", "few items per step, which fill few multiprocessors"},
    {"launch_bound", "host_code", "the program that launches the work takes the time"},
    {"throttled", "thermal", "the GPU is too hot"},
    {"throttled", "power", "the GPU is at its power limit"},
}};

bool is_meant_by(std::string_view pattern, std::string_view id) {
  if (!pattern.ends_with('*')) return id == pattern;
  return id.starts_with(pattern.substr(0, pattern.size() - 1));
}

}  // namespace

std::span<const OtherFinding> other_findings() { return kOtherFindings; }

const OtherFinding* find_other_finding(std::string_view id) {
  const auto* const found =
      std::find_if(kOtherFindings.begin(), kOtherFindings.end(),
                   [&](const OtherFinding& each) { return is_meant_by(each.id, id); });
  return found == kOtherFindings.end() ? nullptr : found;
}

bool has_found(const Diagnosis& diagnosis, const OtherFinding& other) {
  return std::any_of(
      diagnosis.findings.begin(), diagnosis.findings.end(),
      [&](const Finding& finding) { return find_other_finding(finding.id) == &other; });
}

std::span<const Cause> causes() { return kCauses; }

std::string_view needs_of_rule(std::string_view name) {
  for (const Rule* rule : rules()) {
    if (rule->name == name) return rule->needs;
  }
  for (const GroupRule* rule : group_rules()) {
    if (rule->name == name) return rule->needs;
  }
  return "";
}

}  // namespace trainscope
