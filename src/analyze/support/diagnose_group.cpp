#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyze/analyze.h"
#include "analyze/support/confidence.h"
#include "analyze/support/judged.h"
#include "analyze/support/rank_comparison.h"
#include "analyze/support/shared_confidence.h"
#include "base/text.h"
#include "model/training.h"

namespace trainscope {

namespace {

std::vector<Judged> judge_together(const std::vector<RankDiagnosis>& ranks) {
  std::vector<Judged> all;
  RankComparison comparison(ranks);
  for (const GroupRule* rule : group_rules()) {
    Judged judged{rule->name, rule->verdict, rule->judge(comparison), {}};
    judged.seen = comparison.take();
    all.push_back(std::move(judged));
  }
  sort_by_strength(all);
  return all;
}

// Without the metrics of its machine, a rank that waits for a GPU looks as if it computed.
bool is_blind(const RankDiagnosis& rank) {
  return !rank.has_machine_metrics && rank.diagnosis.verdict == "cpu_bound";
}

// The verdict that most ranks have, each with its confidence.
struct CommonVerdict {
  std::string verdict, cause, sentence;
  int64_t count = 0, ranks = 0;  // with this verdict, and with any
  double confidence = 0;
  std::vector<Diagnosis::Alternative> others;
};

CommonVerdict common_verdict(const std::vector<RankDiagnosis>& ranks) {
  CommonVerdict common;
  std::map<std::string, std::vector<const Diagnosis*>> by_verdict;
  for (const RankDiagnosis& rank : ranks) {
    if (!rank.problem.empty()) continue;
    ++common.ranks;
    by_verdict[is_blind(rank) ? "unknown" : rank.diagnosis.verdict].push_back(&rank.diagnosis);
  }
  for (const auto& [verdict, diagnoses] : by_verdict) {
    double confidence = 0;
    for (const Diagnosis* each : diagnoses) {
      confidence += each->confidence / static_cast<double>(common.ranks);
    }
    if (verdict != "unknown") common.others.push_back({verdict, confidence});
    const auto count = static_cast<int64_t>(diagnoses.size());
    if (count <= common.count) continue;
    const Diagnosis& first = *diagnoses.front();
    const bool is_one_cause =
        std::all_of(diagnoses.begin(), diagnoses.end(),
                    [&](const auto* each) { return each->cause == first.cause; });
    common = {verdict,    is_one_cause ? first.cause : "", first.sentence, count, common.ranks,
              confidence, std::move(common.others)};
  }
  return common;
}

// Over all ranks.
std::vector<BreakdownPart> breakdown_of(const std::vector<RankDiagnosis>& ranks) {
  std::vector<BreakdownPart> parts;
  const auto part_of = [&](const std::string& name) -> BreakdownPart& {
    const auto found = std::find_if(parts.begin(), parts.end(),
                                    [&](const BreakdownPart& part) { return part.part == name; });
    return found == parts.end() ? parts.emplace_back(BreakdownPart{name, 0, 0}) : *found;
  };
  double sum_s = 0;
  for (const RankDiagnosis& rank : ranks) {
    for (const BreakdownPart& part : rank.diagnosis.breakdown) {
      part_of(part.part).time_s += part.time_s;
      sum_s += part.time_s;
    }
  }
  for (BreakdownPart& part : parts) part.share = sum_s > 0 ? part.time_s / sum_s : 0;
  std::erase_if(parts, [](const BreakdownPart& part) { return !(part.time_s > 0); });
  return parts;
}

// What would let the ranks be compared.
void add_missing(const std::vector<RankDiagnosis>& ranks, Diagnosis& together) {
  const RankComparison comparison(ranks);
  const auto note = [&](const char* what) {
    together.missing.push_back(fmt::format(
        "{}: trainscope run --instrument -- COMMAND (Python), or trainscope send", what));
  };
  if (comparison.ranks().size() < std::min<size_t>(ranks.size(), 2)) {
    note("to compare the ranks, their steps and communication phases");
  } else if (!comparison.knows_communication()) {
    note("to see which rank the others wait for, communication phases of all ranks");
  }
  if (std::any_of(ranks.begin(), ranks.end(), is_blind)) {
    together.missing.push_back(
        "metrics of all machines: record local rank 0 of each machine into the same home");
  }
  for (const RankDiagnosis& rank : ranks) {
    if (!rank.problem.empty()) {
      together.missing.push_back(fmt::format("rank {}: {}", rank.rank, rank.problem));
    }
  }
}

void set_common(CommonVerdict common, Diagnosis& together) {
  if (common.verdict.empty() || common.verdict == "unknown" || 2 * common.count <= common.ranks) {
    together.verdict = "unknown";
    together.sentence = "the ranks do not have a verdict in common";
    if (common.verdict == "unknown" || common.ranks == 0) {
      together.sentence = "cannot tell what holds the training back";
    }
    together.alternatives = std::move(common.others);
    scale_down(together.alternatives, kLeastStrength, 1);
    return;
  }
  together.verdict = common.verdict;
  together.cause = common.cause;
  together.confidence = common.confidence;
  together.sentence =
      common.count == common.ranks
          ? fmt::format("on all {} ranks; on the first, {}", common.ranks, common.sentence)
          : fmt::format("on {} of {} ranks; on the first of them, {}", common.count, common.ranks,
                        common.sentence);
  for (Diagnosis::Alternative& other : common.others) {
    if (other.verdict != together.verdict) together.alternatives.push_back(std::move(other));
  }
  scale_down(together.alternatives, together.confidence, 1 - together.confidence);
}

// Of each limit that ranks were measured against, the rank that came closest to it.
std::vector<ReachedLimit> closest_limits(const std::vector<RankDiagnosis>& ranks) {
  std::vector<ReachedLimit> limits;
  for (const RankDiagnosis& rank : ranks) {
    for (const ReachedLimit& one : rank.diagnosis.limits) {
      const auto known = std::find_if(limits.begin(), limits.end(), [&](const ReachedLimit& other) {
        return other.name == one.name;
      });
      if (known == limits.end()) {
        limits.push_back(one);
      } else if (one.reached * known->limit > known->reached * one.limit) {
        *known = one;
      }
    }
  }
  return limits;
}

bool has_machine_metrics(const RunView& run) {
  const std::vector<Series>& series = run.recorded_series();
  return std::any_of(series.begin(), series.end(), [](const Series& each) {
    return each.status != SeriesStatus::absent && each.metric.starts_with("system.");
  });
}

void set_together(const Judged& first, CommonVerdict common, Diagnosis& together) {
  together.verdict = first.verdict;
  together.cause = first.judgement.cause;
  together.score = first.judgement.strength;
  together.confidence = confidence_of(together.score);
  together.sentence = first.judgement.finding.summary;
  for (Diagnosis::Alternative& other : common.others) {
    if (other.verdict != together.verdict) together.alternatives.push_back(std::move(other));
  }
  scale_down(together.alternatives, together.confidence, 1 - together.confidence);
}

}  // namespace

std::optional<double> communication_s(const Training& training) {
  const PhaseSum* const communication = training.find_phase_sum("communication");
  const double steps = training.statistics.steps;
  if (communication == nullptr || !(steps > 0)) return std::nullopt;
  return std::max(0.0, communication->time_s - communication->warmup_s) / steps;
}

std::optional<double> own_step_s(const Training& training) {
  const auto step_s = training.statistics.mean_s, communication = communication_s(training);
  if (!step_s || !communication) return std::nullopt;
  return std::max(0.0, *step_s - *communication);
}

Result<RankDiagnosis> diagnose_rank(const RunView& run, const MachineLimits* limits) {
  RankDiagnosis rank;
  const Manifest& manifest = run.manifest();
  rank.rank = manifest.rank;
  rank.run = manifest.id;
  rank.host = manifest.host_name;
  TS_TRY(rank.diagnosis, diagnose(run, limits));
  rank.has_machine_metrics = has_machine_metrics(run);
  rank.diagnosis.judged.clear();  // of many ranks that is too much
  const Training& training = run.training();
  rank.step_s = training.statistics.mean_s;
  rank.steps = training.statistics.steps;
  rank.communication_s = communication_s(training);
  return rank;
}

GroupDiagnosis diagnose_together(std::vector<RankDiagnosis> ranks) {
  GroupDiagnosis group;
  group.ranks = std::move(ranks);
  Diagnosis& together = group.together;
  const std::vector<Judged> judged = judge_together(group.ranks);
  JudgedTime time;
  for (const RankDiagnosis& rank : group.ranks) {
    time.length_s = std::max(time.length_s, rank.step_s.value_or(0) * rank.steps);
  }
  for (const Judged& one : judged) {
    if (one.judgement.strength >= kLeastStrength) {
      together.findings.push_back(finding_of(one, time));
      together.findings.back().confidence = confidence_of(one.judgement.strength);
    }
    together.judged.push_back(explained(one));
  }
  together.breakdown = breakdown_of(group.ranks);
  together.limits = closest_limits(group.ranks);
  CommonVerdict common = common_verdict(group.ranks);
  if (together.findings.empty()) {
    set_common(std::move(common), together);
    add_missing(group.ranks, together);
  } else {
    set_together(judged.front(), std::move(common), together);
  }
  return group;
}

}  // namespace trainscope
