#include "analyze/support/judged.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "model/gain_text.h"

namespace trainscope {

namespace {

// Below this much of the time there is little to be won.
constexpr double kWorthMending = 0.05, kMuch = 0.2;

// `part`: of the whole time, how much was judged.
std::string severity_of(const Judgement& judgement, double part) {
  if (!judgement.severity.empty()) return judgement.severity;
  const double share = judgement.share * part;
  if (share >= kMuch) return "critical";
  return share >= kWorthMending ? "warning" : "info";
}

// What a rule saw, as far as it spoke for it: each quantity once, though a rule may look at it with
// several bounds.
void add_evidence(const Judged& judged, Finding& finding) {
  std::set<std::string_view> shown;
  for (const Diagnosis::Seen& seen : judged.seen) {
    if (!seen.is_evidence || !seen.value || seen.degree < 0.1) continue;
    if (!shown.insert(seen.what).second) continue;
    const std::string metric = seen.metric.empty() ? "" : fmt::format(" ({})", seen.metric);
    finding.evidence.push_back(
        fmt::format("{}: {}, bounds {} to {}{}", seen.what, seen_text(*seen.value, seen.unit),
                    seen_text(seen.low, seen.unit), seen_text(seen.high, seen.unit), metric));
  }
}

// What the advice alone can bring of the whole time, which may be less than all that is lost.
void add_gain(const Judgement& judgement, double part, Finding& finding) {
  constexpr double kWorthAWord = 1.02;
  if (!judgement.gain || finding.advice.empty()) return;
  const double gain = 1 / (1 - part * (1 - 1 / *judgement.gain));
  if (gain < kWorthAWord) return;
  finding.advice_speedup = gain;
  finding.advice += fmt::format(
      "; {}: {}", judgement.gain_by.empty() ? "that alone" : judgement.gain_by, gain_text(gain));
}

}  // namespace

void sort_by_strength(std::vector<Judged>& judged) {
  std::stable_sort(judged.begin(), judged.end(), [](const Judged& a, const Judged& b) {
    return a.judgement.strength > b.judgement.strength;
  });
}

Finding finding_of(const Judged& judged, const JudgedTime& time) {
  Finding finding = judged.judgement.finding;
  const double part = time.whole_s > 0 ? time.length_s / time.whole_s : 1;
  finding.id = judged.name;
  finding.severity = severity_of(judged.judgement, part);
  finding.from_s = time.from_s;
  finding.to_s = time.to_s;
  add_evidence(judged, finding);
  const double lost = part * judged.judgement.lost.value_or(0);
  if (lost > 0 && lost < 1) {
    finding.time_lost_s = *judged.judgement.lost * time.length_s;
    if (!judged.judgement.is_lost_at_least) finding.max_speedup = 1 / (1 - lost);
  }
  add_gain(judged.judgement, part, finding);
  return finding;
}

bool is_noticeable(const Judgement& judgement) {
  return judgement.is_reported && judgement.share >= kWorthMending;
}

Diagnosis::Judged explained(const Judged& judged) {
  return {std::string(judged.name), std::string(judged.verdict), judged.judgement.strength,
          judged.seen};
}

}  // namespace trainscope
