#include "analyze/support/missing_evidence.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/analyze.h"
#include "base/text.h"
#include "model/switch_setting.h"

namespace trainscope {

namespace {

// A phase of the job's own name is worth a word from this share of the time on.
constexpr double kWorthNaming = 0.1;

std::string missing_time(const Evidence& evidence, double run_s) {
  if (evidence.reported().steps() == 0 || run_s < kLeastTrainingS) {
    return fmt::format("a longer run: at least {}", duration_text(kLeastTrainingS));
  }
  return fmt::format(
      "more steps: {} are between the first one and the last; at least {} are needed",
      duration_text(evidence.training_s()), duration_text(kLeastTrainingS));
}

std::string missing_phases(const Evidence& evidence, const RunView& run) {
  const char* const what = evidence.has_phases()             ? "input phases"
                           : evidence.reported().steps() > 0 ? "phases of the steps"
                                                             : "steps and their phases";
  const std::string command = instrument_command(run);
  // The command is last, so that it can be pasted.
  if (!command.empty()) return fmt::format("{}: trainscope send, or {}", what, command);
  if (is_on(run.manifest(), "instrument")) {
    return fmt::format("{}, which --instrument did not see: trainscope send", what);
  }
  return fmt::format("{}: trainscope run --instrument -- COMMAND (Python), or trainscope send",
                     what);
}

// "": all of the run can be read.
std::string damage_text(const std::vector<Gap>& gaps) {
  const auto is_damage = [](const Gap& gap) { return gap.is_damage; };
  const auto first = std::find_if(gaps.begin(), gaps.end(), is_damage);
  if (first == gaps.end()) return "";
  const auto places = std::count_if(gaps.begin(), gaps.end(), is_damage);
  return fmt::format("what is lost because the run is damaged{}: {}",
                     places > 1 ? fmt::format(" in {} places", places) : "",
                     printable(first->reason));
}

}  // namespace

std::vector<std::string> missing_evidence(const Evidence& evidence,
                                          const std::vector<Judged>& judged, const RunView& run) {
  if (evidence.training_s() < kLeastTrainingS) {
    return {missing_time(evidence, run.duration_s())};
  }
  std::vector<std::string> missing;
  const std::string damage = damage_text(run.sampling().gaps);
  if (!damage.empty()) missing.push_back(damage);
  for (const Judged& one : judged) {
    if (!one.judgement.missing.empty()) missing.push_back(one.judgement.missing);
  }
  if (!evidence.knows_input()) missing.push_back(missing_phases(evidence, run));
  const auto other = evidence.reported().largest_other_phase();
  if (other && other->share >= kWorthNaming) {
    missing.push_back(
        fmt::format("what the phase '{}' does, which takes {:.0f} % of the time: the names input, "
                    "transfer, communication, checkpoint and evaluation have a meaning",
                    printable(other->name), 100 * other->share));
  }
  if (!evidence.mean(Signal::job_cores)) {
    missing.emplace_back("the CPU time of the job (job.cpu.time), which this run does not have");
  }
  if (missing.empty()) {
    missing.emplace_back("a cause that stands out: --explain shows what each rule saw");
  }
  return missing;
}

}  // namespace trainscope
