#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyze/analyze.h"
#include "analyze/support/rule.h"
#include "base/text.h"

namespace trainscope {

namespace {

// A verdict needs this much; below it the answer is "unknown".
constexpr double kLeastStrength = 0.5;
// An alternative is worth a word from here on.
constexpr double kWorthMentioning = 0.2;
// Below this much of the time there is little to be won.
constexpr double kWorthMending = 0.05, kMuch = 0.2;

struct Judged {
  const Rule* rule = nullptr;
  Judgement judgement;
  std::vector<Diagnosis::Seen> seen;
};

std::vector<Judged> judge_all(const Evidence& evidence) {
  std::vector<Judged> all;
  for (const Rule* rule : rules()) {
    Witness witness(evidence);
    Judged judged{rule, rule->judge(witness), {}};
    judged.seen = witness.take();
    all.push_back(std::move(judged));
  }
  std::stable_sort(all.begin(), all.end(), [](const Judged& a, const Judged& b) {
    return a.judgement.strength > b.judgement.strength;
  });
  return all;
}

std::string severity_of(const Judgement& judgement) {
  if (judgement.share >= kMuch) return "critical";
  return judgement.share >= kWorthMending ? "warning" : "info";
}

// What a rule saw, as far as it spoke for it.
void add_evidence(const Judged& judged, Finding& finding) {
  for (const Diagnosis::Seen& seen : judged.seen) {
    if (!seen.value || seen.degree < 0.1) continue;
    finding.evidence.push_back(fmt::format("{}: {} (bounds {} to {})", seen.what,
                                           number_text(*seen.value), number_text(seen.low),
                                           number_text(seen.high)));
  }
}

Finding finding_of(const Judged& judged, const Evidence& evidence) {
  Finding finding = judged.judgement.finding;
  finding.id = judged.rule->name;
  finding.severity = severity_of(judged.judgement);
  finding.confidence = judged.judgement.strength;
  finding.from_s = evidence.windows().begin_s;
  finding.to_s = evidence.windows().end_s();
  add_evidence(judged, finding);
  const double share = judged.judgement.share;
  if (share > 0 && share < 1) {
    finding.time_lost_s = share * evidence.training_s();
    finding.max_speedup = 1 / (1 - share);
  }
  return finding;
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
  diagnosis.verdict = first.rule->verdict;
  diagnosis.cause = first.judgement.cause;
  double other = 0;
  for (const Judged& one : judged) {
    if (one.rule->verdict != first.rule->verdict) other = std::max(other, one.judgement.strength);
  }
  diagnosis.confidence = first.judgement.strength * (1 - 0.5 * other);
  diagnosis.sentence = first.judgement.finding.summary;
}

void add_alternatives(const std::vector<Judged>& judged, Diagnosis& diagnosis) {
  for (const Judged& one : judged) {
    const std::string verdict(one.rule->verdict);
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
  std::vector<Judged> judged = judge_all(evidence);
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
      diagnosis.findings.push_back(finding_of(one, evidence));
    }
  }
  for (const Finding& pause : evidence.step_time().findings) diagnosis.findings.push_back(pause);
  for (Judged& one : judged) {
    diagnosis.judged.push_back({std::string(one.rule->name), std::string(one.rule->verdict),
                                one.judgement.strength, std::move(one.seen)});
  }
  return diagnosis;
}

}  // namespace trainscope
