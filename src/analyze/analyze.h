// Analyses: one .cpp in this folder that defines one constant `<stem>_analysis`, a pure function
// from a RunView to a result. The build lists the folder and generates analyses(). `info`, the
// summary of a run and the reference iterate that table; no command names an analysis.
//
// Guarantees: the same run gives the same result; what cannot be decided is in `unknown`, never
// guessed. Nothing is printed or written.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/finding.h"
#include "model/group_diagnosis.h"
#include "model/model.h"

namespace trainscope {

struct Analysis {
  std::string_view name;      // "step_time"
  std::string_view title;     // of its row in `info` and the summary, at most 10 characters
  std::string_view summary;   // one line for the reference
  std::string_view needs;     // what a run must have for a result
  std::string_view json_key;  // of its breakdown in `info --json`; "": it has no breakdown
  Result<AnalysisResult> (*analyze)(const RunView& run) = nullptr;
};

// All analyses, sorted by name. Generated from the folder.
std::span<const Analysis* const> analyses();

struct CompletedAnalysis {
  const Analysis* analysis = nullptr;
  AnalysisResult result;
};
// Runs all of them, in the order of analyses().
Result<std::vector<CompletedAnalysis>> run_analyses(const RunView& run);

// A rule of `diagnose`: one .cpp in rules/ that defines one constant `<stem>_rule`. It judges by
// the evidence of a run how far one verdict holds.
class Witness;     // analyze/support/rule.h
struct Judgement;  // analyze/support/judged.h
struct Rule {
  std::string_view name;     // "input_wait"
  std::string_view verdict;  // of the contract
  std::string_view summary;  // one line for the reference
  std::string_view needs;    // what a run must have for it
  Judgement (*judge)(Witness& witness) = nullptr;
};

// All rules, sorted by name. Generated from the folder.
std::span<const Rule* const> rules();
// What diagnose() finds without a rule: it limits nothing by itself. An id that ends with "*"
// stands for one per kind of pause.
struct OtherFinding {
  std::string_view id, summary;
};
std::span<const OtherFinding> other_findings();
const OtherFinding* find_other_finding(std::string_view id);
bool has_found(const Diagnosis& diagnosis, const OtherFinding& other);
// Why a verdict holds, as far as rules can tell.
struct Cause {
  std::string_view verdict, cause, summary;
};
std::span<const Cause> causes();

// Grows when a rule may decide otherwise.
inline constexpr int kRulesVersion = 11;

// Less than this is too little to judge by.
inline constexpr double kLeastTrainingS = 1.5;

// What held the training back, by all rules together. "Cannot tell" is a verdict: `unknown`.
// `limits` of the run's machine; null: those that the run has stored.
Result<Diagnosis> diagnose(const RunView& run, const MachineLimits* limits = nullptr);

// A rule of `diagnose` for the ranks of a job: one .cpp in group_rules/ that defines one constant
// `<stem>_group_rule`. It judges by comparing the ranks.
class RankComparison;  // analyze/support/rank_comparison.h
struct GroupRule {
  std::string_view name, verdict, summary, needs;  // as of a Rule
  Judgement (*judge)(RankComparison& comparison) = nullptr;
};

// All of them, sorted by name. Generated from the folder.
std::span<const GroupRule* const> group_rules();

// What a run, or a job, must have for the rule of this name; "" for a name that no rule has.
std::string_view needs_of_rule(std::string_view name);

// "trainscope run --instrument -- python train.py" for a Python job, or one that loads a framework
// of Python, that was run without it and reported no phases; "" otherwise, and for a job without
// steps that ended within seconds.
std::string instrument_command(const RunView& run);

// One rank of a job: its own diagnosis, and what the comparison with others needs of it. `limits`
// as of diagnose().
Result<RankDiagnosis> diagnose_rank(const RunView& run, const MachineLimits* limits = nullptr);
// Time in communication per step, and that of a step without it, after the warm-up; empty: the rank
// reported no steps, or no communication.
std::optional<double> communication_s(const Training& training);
std::optional<double> own_step_s(const Training& training);
// What held the job back: what the ranks do to each other if that explains it, otherwise the
// verdict that more than half of them have.
GroupDiagnosis diagnose_together(std::vector<RankDiagnosis> ranks);

}  // namespace trainscope
