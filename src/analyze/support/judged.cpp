#include "analyze/support/judged.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace trainscope {

namespace {

// Below this much of the time there is little to be won.
constexpr double kWorthMending = 0.05, kMuch = 0.2;

std::string severity_of(const Judgement& judgement) {
  if (judgement.share >= kMuch) return "critical";
  return judgement.share >= kWorthMending ? "warning" : "info";
}

// What a rule saw, as far as it spoke for it.
void add_evidence(const Judged& judged, Finding& finding) {
  for (const Diagnosis::Seen& seen : judged.seen) {
    if (!seen.value || seen.degree < 0.1) continue;
    const std::string metric = seen.metric.empty() ? "" : fmt::format(" ({})", seen.metric);
    std::string line =
        fmt::format("{}: {}, bounds {} to {}{}", seen.what, seen_text(*seen.value, seen.unit),
                    seen_text(seen.low, seen.unit), seen_text(seen.high, seen.unit), metric);
    const auto& known = finding.evidence;
    if (std::find(known.begin(), known.end(), line) == known.end()) {
      finding.evidence.push_back(std::move(line));
    }
  }
}

}  // namespace

void sort_by_strength(std::vector<Judged>& judged) {
  std::stable_sort(judged.begin(), judged.end(), [](const Judged& a, const Judged& b) {
    return a.judgement.strength > b.judgement.strength;
  });
}

Finding finding_of(const Judged& judged, const JudgedTime& time) {
  Finding finding = judged.judgement.finding;
  finding.id = judged.name;
  finding.severity = severity_of(judged.judgement);
  finding.confidence = judged.judgement.strength;
  finding.from_s = time.from_s;
  finding.to_s = time.to_s;
  add_evidence(judged, finding);
  const double share = judged.judgement.share;
  if (share > 0 && share < 1) {
    finding.time_lost_s = share * time.length_s;
    finding.max_speedup = 1 / (1 - share);
  }
  return finding;
}

Diagnosis::Judged explained(const Judged& judged) {
  return {std::string(judged.name), std::string(judged.verdict), judged.judgement.strength,
          judged.seen};
}

}  // namespace trainscope
