#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analyze/analyze.h"
#include "analyze/support/breakdown.h"
#include "analyze/support/confidence.h"
#include "analyze/support/costliest_stalls.h"
#include "analyze/support/full_memory.h"
#include "analyze/support/missing_evidence.h"
#include "analyze/support/outside_steps.h"
#include "analyze/support/over_time.h"
#include "analyze/support/rule.h"
#include "analyze/support/shared_confidence.h"
#include "base/text.h"

namespace trainscope {

namespace {

// Of two causes that are almost as likely, neither is the verdict, unless the job itself says what
// its time went into.
constexpr double kLeastConfidence = 0.55;

bool reports_parts(const Evidence& evidence) {
  constexpr std::array kParts = {"input", "transfer", "communication", "checkpoint", "evaluation"};
  return evidence.has_phases() || std::any_of(kParts.begin(), kParts.end(), [&](const char* part) {
           return evidence.share(part).has_value();
         });
}

bool has_clear_verdict(const Evidence& evidence, const std::vector<Judged>& judged) {
  if (judged.empty() || judged.front().judgement.strength < kLeastStrength) return false;
  return reports_parts(evidence) || confidence_of(score_of(judged)) >= kLeastConfidence;
}

void set_unknown(std::vector<std::string> missing, Diagnosis& diagnosis) {
  diagnosis.verdict = "unknown";
  diagnosis.confidence = 0;
  diagnosis.missing = std::move(missing);
  diagnosis.sentence = "cannot tell what holds the training back";
}

void set_verdict(const std::vector<Judged>& judged, Diagnosis& diagnosis) {
  const Judged& first = judged.front();
  diagnosis.verdict = first.verdict;
  diagnosis.cause = first.judgement.cause;
  diagnosis.score = score_of(judged);
  diagnosis.confidence = confidence_of(diagnosis.score);
  diagnosis.sentence = first.judgement.finding.summary;
}

// Makes the findings of a run and says where in time they hold.
class Findings {
 public:
  Findings(const Evidence& evidence, const std::vector<JudgedSpan>& spans, Diagnosis& diagnosis)
      : windows_(evidence.windows()), spans_(spans), diagnosis_(diagnosis) {}

  void add(const Judged& judged, double confidence) {
    const JudgedTime time{windows_.begin_s, windows_.end_s(), windows_.end_s() - windows_.begin_s,
                          0};
    Finding finding = finding_of(judged, time);
    finding.confidence = confidence;
    const auto holds = [&](const JudgedSpan& span) { return span.verdict == judged.verdict; };
    const auto first = std::find_if(spans_.begin(), spans_.end(), holds);
    const auto last = std::find_if(spans_.rbegin(), spans_.rend(), holds);
    if (first != spans_.end()) {
      finding.from_s = begin_s(*first);
      finding.to_s = end_s(*last);
    }
    diagnosis_.findings.push_back(std::move(finding));
  }

  // What holds only for a while.
  void add_span(const JudgedSpan& span) {
    const bool is_known = span.verdict == diagnosis_.verdict || span.verdict == "unknown";
    if (is_known || has_finding(span.judged.front().name)) return;
    const double from_s = begin_s(span), to_s = end_s(span);
    const JudgedTime time{from_s, to_s, to_s - from_s, windows_.end_s() - windows_.begin_s};
    Finding finding = finding_of(span.judged.front(), time);
    finding.is_of_part = true;
    const bool is_clear = diagnosis_.confidence > 0;
    finding.confidence =
        is_clear ? std::min(span.confidence, diagnosis_.confidence) : span.confidence;
    finding.summary = fmt::format("from {} to {}: {}", duration_text(from_s), duration_text(to_s),
                                  finding.summary);
    diagnosis_.findings.push_back(std::move(finding));
  }

 private:
  double begin_s(const JudgedSpan& span) const { return windows_.edge_s(span.first_window); }
  double end_s(const JudgedSpan& span) const {
    return windows_.edge_s(span.first_window + span.count);
  }
  bool has_finding(std::string_view id) const {
    return std::any_of(diagnosis_.findings.begin(), diagnosis_.findings.end(),
                       [&](const Finding& finding) { return finding.id == id; });
  }

  const TimeWindows& windows_;
  const std::vector<JudgedSpan>& spans_;
  Diagnosis& diagnosis_;
};

void set_over_time(const Evidence& evidence, const std::vector<JudgedSpan>& spans,
                   Diagnosis& diagnosis) {
  const TimeWindows& windows = evidence.windows();
  if (spans.size() < 2) {
    diagnosis.over_time = {
        {windows.begin_s, windows.end_s(), diagnosis.verdict, diagnosis.confidence}};
    return;
  }
  for (const JudgedSpan& span : spans) {
    diagnosis.over_time.push_back({windows.edge_s(span.first_window),
                                   windows.edge_s(span.first_window + span.count),
                                   std::string(span.verdict), span.confidence});
  }
}

// What no rule decides: interruptions, memory, and the time before and after the steps.
Status add_other_findings(const RunView& run, const Evidence& evidence, Diagnosis& diagnosis) {
  std::vector<Finding>& all = diagnosis.findings;
  const auto add = [&](const std::vector<Finding>& more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  TS_TRY(const std::vector<Finding> memory, full_memory(run, evidence));
  add(memory);
  add(evidence.reported().step_time().findings);
  TS_TRY(const std::optional<Finding> stalls, costliest_stalls(run, evidence));
  if (stalls) all.push_back(*stalls);
  TS_TRY(const std::vector<Finding> outside, time_outside_steps(run, evidence.reported()));
  add(outside);
  return {};
}

}  // namespace

Result<Diagnosis> diagnose(const RunView& run, const MachineLimits* limits) {
  const auto& stored = run.manifest().limits;
  if (limits == nullptr && stored) limits = &*stored;
  TS_TRY(const Evidence evidence, Evidence::of(run, limits));
  const std::vector<Judged> judged = judge_all(evidence);
  const bool is_long = evidence.training_s() >= kLeastTrainingS;
  const bool is_clear = is_long && has_clear_verdict(evidence, judged);
  Diagnosis diagnosis;
  diagnosis.limits = evidence.limits();
  diagnosis.breakdown = break_down(evidence, is_clear ? &judged.front() : nullptr);
  if (is_clear) {
    set_verdict(judged, diagnosis);
  } else {
    set_unknown(missing_evidence(evidence, judged, run), diagnosis);
  }
  const SharedConfidence confidence(judged, is_clear, diagnosis.confidence);
  if (is_long) diagnosis.alternatives = confidence.alternatives();
  const std::vector<JudgedSpan> spans =
      is_long ? judge_over_time(evidence) : std::vector<JudgedSpan>();
  set_over_time(evidence, spans, diagnosis);
  Findings findings(evidence, spans, diagnosis);
  for (const Judged& one : judged) {
    const bool holds = is_clear && one.judgement.strength >= kLeastStrength;
    if (holds || (is_long && is_noticeable(one.judgement))) findings.add(one, confidence.of(one));
  }
  for (const JudgedSpan& span : spans) findings.add_span(span);
  TS_CHECK_OK(add_other_findings(run, evidence, diagnosis));
  for (const Judged& one : judged) diagnosis.judged.push_back(explained(one));
  return diagnosis;
}

}  // namespace trainscope
