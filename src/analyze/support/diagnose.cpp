#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyze/analyze.h"
#include "analyze/support/confidence.h"
#include "analyze/support/rule.h"
#include "base/text.h"

namespace trainscope {

namespace {

// An alternative is worth a word from here on.
constexpr double kWorthMentioning = 0.2;

std::vector<Judged> judge_all(const Evidence& evidence) {
  std::vector<Judged> all;
  for (const Rule* rule : rules()) {
    Witness witness(evidence);
    Judged judged{rule->name, rule->verdict, rule->judge(witness), {}};
    judged.seen = witness.take();
    all.push_back(std::move(judged));
  }
  sort_by_strength(all);
  return all;
}

// Where the time of the steps went, as the job reported it; of an unmodified job what the main
// thread did.
std::vector<BreakdownPart> breakdown_of(const Evidence& evidence) {
  if (evidence.has_phases()) return evidence.step_time().breakdown;
  const double whole_s = evidence.training_s();
  const auto running = evidence.mean(Signal::main_running);
  if (!running) return {{"unexplained", 1, whole_s}};
  const double host = std::clamp(*running, 0.0, 1.0);
  const double waiting =
      std::clamp(evidence.mean(Signal::main_runnable).value_or(0), 0.0, 1 - host);
  const double storage =
      std::clamp(evidence.mean(Signal::main_on_disk).value_or(0), 0.0, 1 - host - waiting);
  std::vector<BreakdownPart> parts = {{"host work", host, host * whole_s},
                                      {"waiting for a core", waiting, waiting * whole_s},
                                      {"waiting for storage", storage, storage * whole_s}};
  const double rest = 1 - host - waiting - storage;
  parts.push_back({"unexplained", rest, rest * whole_s});
  std::erase_if(parts, [](const BreakdownPart& part) { return !(part.share > 5e-4); });
  return parts;
}

std::string missing_for(const Evidence& evidence) {
  if (evidence.training_s() < kLeastTrainingS) return "a longer run";
  if (evidence.has_phases()) return "evidence that the rules agree on";
  const char* const what = evidence.has_steps() ? "phases of the steps" : "steps and their phases";
  return fmt::format("{}: trainscope run --instrument -- COMMAND (Python), or trainscope send",
                     what);
}

void set_unknown(const Evidence& evidence, Diagnosis& diagnosis) {
  diagnosis.verdict = "unknown";
  diagnosis.confidence = 0;
  diagnosis.missing.push_back(missing_for(evidence));
  diagnosis.sentence = "cannot tell what holds the training back";
}

void set_verdict(const std::vector<Judged>& judged, Diagnosis& diagnosis) {
  const Judged& first = judged.front();
  diagnosis.verdict = first.verdict;
  diagnosis.cause = first.judgement.cause;
  double other = 0;
  for (const Judged& one : judged) {
    if (one.verdict != first.verdict) other = std::max(other, one.judgement.strength);
  }
  diagnosis.score = first.judgement.strength * (1 - 0.5 * other);
  diagnosis.confidence = confidence_of(diagnosis.score);
  diagnosis.sentence = first.judgement.finding.summary;
}

void add_alternatives(const std::vector<Judged>& judged, Diagnosis& diagnosis) {
  for (const Judged& one : judged) {
    const std::string verdict(one.verdict);
    if (one.judgement.strength < kWorthMentioning || verdict == diagnosis.verdict) continue;
    const bool is_known = std::any_of(diagnosis.alternatives.begin(), diagnosis.alternatives.end(),
                                      [&](const auto& known) { return known.verdict == verdict; });
    if (!is_known) diagnosis.alternatives.push_back({verdict, one.judgement.strength});
  }
}

}  // namespace

Result<Diagnosis> diagnose(const RunView& run, const MachineLimits* limits) {
  const auto& stored = run.manifest().limits;
  if (limits == nullptr && stored) limits = &*stored;
  TS_TRY(const Evidence evidence, Evidence::of(run, limits));
  const std::vector<Judged> judged = judge_all(evidence);
  const JudgedTime time{evidence.windows().begin_s, evidence.windows().end_s(),
                        evidence.training_s()};
  Diagnosis diagnosis;
  diagnosis.breakdown = breakdown_of(evidence);
  diagnosis.limits = evidence.limits();
  const bool is_clear = !judged.empty() && judged.front().judgement.strength >= kLeastStrength &&
                        evidence.training_s() >= kLeastTrainingS;
  if (is_clear) {
    set_verdict(judged, diagnosis);
  } else {
    set_unknown(evidence, diagnosis);
  }
  add_alternatives(judged, diagnosis);
  for (const Judged& one : judged) {
    if (is_clear && one.judgement.strength >= kLeastStrength) {
      diagnosis.findings.push_back(finding_of(one, time));
    }
  }
  for (const Finding& pause : evidence.step_time().findings) diagnosis.findings.push_back(pause);
  for (const Judged& one : judged) diagnosis.judged.push_back(explained(one));
  return diagnosis;
}

}  // namespace trainscope
