#include "analyze/support/over_time.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analyze/analyze.h"
#include "analyze/support/confidence.h"
#include "analyze/support/rule.h"

namespace trainscope {

namespace {

constexpr std::string_view kUnknown = "unknown";
// A span at an end of the run must be better by this much than its neighbour's verdict, in
// strengths added up over its windows; one in the middle by twice as much.
constexpr double kPriceOfChange = 1.5;
// What a window without a verdict counts: less than one with the weakest verdict.
constexpr double kUnknownStrength = 0.45;
// A shorter part of the time that is judged is not reported.
constexpr double kLeastPart = 0.1;

// Strengths by verdict of one window.
using Strengths = std::map<std::string_view, double>;

Strengths strengths_of(const std::vector<Judged>& judged) {
  Strengths strengths = {{kUnknown, kUnknownStrength}};
  for (const Judged& one : judged) {
    double& strongest = strengths[one.verdict];
    strongest = std::max(strongest, one.judgement.strength);
  }
  return strengths;
}

// The best path through the windows (Viterbi).
class BestPath {
 public:
  explicit BestPath(const std::vector<Strengths>& windows) {
    for (const Strengths& each : windows) {
      for (const auto& [verdict, strength] : each) sums_.try_emplace(verdict, 0);
    }
    for (const Strengths& each : windows) add(each);
  }

  std::vector<std::string_view> verdicts() const {
    std::vector<std::string_view> path(before_.size());
    std::string_view verdict = best(sums_).first;
    for (size_t i = path.size(); i-- > 0;) {
      path[i] = verdict;
      verdict = before_[i].at(verdict);
    }
    return path;
  }

 private:
  using Sums = std::map<std::string_view, double>;
  static std::pair<std::string_view, double> best(const Sums& sums) {
    const auto found = std::max_element(
        sums.begin(), sums.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    return *found;
  }

  void add(const Strengths& window) {
    const auto [best_verdict, best_sum] = best(sums_);
    Sums sums;
    std::map<std::string_view, std::string_view> before;
    for (const auto& [verdict, sum] : sums_) {
      const bool is_changed = !before_.empty() && best_sum - kPriceOfChange > sum;
      const auto strength = window.find(verdict);
      before[verdict] = is_changed ? best_verdict : verdict;
      sums[verdict] = (is_changed ? best_sum - kPriceOfChange : sum) +
                      (strength == window.end() ? 0 : strength->second);
    }
    sums_ = std::move(sums);
    before_.push_back(std::move(before));
  }

  Sums sums_;
  std::vector<std::map<std::string_view, std::string_view>> before_;
};

JudgedSpan judge_span(const Evidence& evidence, size_t first, size_t count,
                      std::string_view expected) {
  JudgedSpan span{first, count, kUnknown, 0, judge_all(evidence.slice(first, count))};
  const Judged& strongest = span.judged.front();
  const bool is_clear = strongest.judgement.strength >= kLeastStrength;
  if (!is_clear || strongest.verdict != expected) return span;
  span.verdict = strongest.verdict;
  span.confidence = confidence_of(score_of(span.judged));
  return span;
}

// Neighbours with the same verdict become one.
std::vector<std::pair<std::string_view, size_t>> run_lengths(
    const std::vector<std::string_view>& path) {
  std::vector<std::pair<std::string_view, size_t>> lengths;
  for (const std::string_view verdict : path) {
    if (lengths.empty() || lengths.back().first != verdict) lengths.emplace_back(verdict, 0);
    ++lengths.back().second;
  }
  return lengths;
}

std::vector<JudgedSpan> judge_path(const Evidence& evidence,
                                   const std::vector<std::string_view>& path) {
  std::vector<JudgedSpan> spans;
  size_t first = 0;
  for (const auto& [verdict, count] : run_lengths(path)) {
    spans.push_back(judge_span(evidence, first, count, verdict));
    first += count;
  }
  return spans;
}

// The verdicts that the spans have as a whole; what is too short joins its longer neighbour.
std::vector<std::string_view> settled(const std::vector<JudgedSpan>& spans, size_t windows) {
  std::vector<std::string_view> path;
  for (size_t i = 0; i < spans.size(); ++i) {
    const size_t before = i > 0 ? spans[i - 1].count : 0;
    const size_t after = i + 1 < spans.size() ? spans[i + 1].count : 0;
    const double part = static_cast<double>(spans[i].count) / static_cast<double>(windows);
    const bool is_short = part < kLeastPart && before + after > 0;
    const JudgedSpan& like = !is_short ? spans[i] : before >= after ? spans[i - 1] : spans[i + 1];
    path.insert(path.end(), spans[i].count, like.verdict);
  }
  return path;
}

void join_equal(std::vector<JudgedSpan>& spans) {
  std::vector<JudgedSpan> joined;
  for (JudgedSpan& span : spans) {
    if (joined.empty() || joined.back().verdict != span.verdict) {
      joined.push_back(std::move(span));
    } else {
      joined.back().count += span.count;
    }
  }
  spans = std::move(joined);
}

}  // namespace

std::vector<JudgedSpan> judge_over_time(const Evidence& evidence) {
  std::vector<Strengths> windows;
  for (size_t i = 0; i < evidence.windows().count; ++i) {
    windows.push_back(strengths_of(judge_all(evidence.slice(i, 1))));
  }
  const auto path = BestPath(windows).verdicts();
  std::vector<JudgedSpan> spans = judge_path(evidence, path);
  if (spans.size() > 1) spans = judge_path(evidence, settled(spans, path.size()));
  join_equal(spans);
  return spans;
}

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

double score_of(const std::vector<Judged>& judged) {
  const Judged& first = judged.front();
  double other = 0;
  for (const Judged& one : judged) {
    if (one.verdict != first.verdict) other = std::max(other, one.judgement.strength);
  }
  return first.judgement.strength * (1 - 0.5 * other);
}

}  // namespace trainscope
