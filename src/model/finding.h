// Results of analyses: breakdown of time, pauses, findings, and the diagnosis of a run.
//
// Times are seconds from t = 0. Commands show these values and compute none of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainscope {

// A part of the time; the shares of a breakdown add up to 1.
struct BreakdownPart {
  // Of step_time: input, compute, checkpoint, evaluation, warmup, unexplained. Of a diagnosis: see
  // analyze/support/breakdown.h.
  std::string part;
  double share = 0;
  double time_s = 0;
};

// An interruption of the training's usual pace.
struct Pause {
  std::string kind;  // input, checkpoint, evaluation, unexplained
  double from_s = 0, to_s = 0;
  double lost_s = 0;                // beyond the usual duration of a step
  int64_t step = 0;                 // the step that was delayed by it
  bool is_after_last_step = false;  // then `step` is the last one
};

struct Finding {
  std::string id;        // stable, for scripts: "pauses_input"
  std::string severity;  // info, warning, critical
  std::string summary;   // one sentence with numbers
  std::vector<std::string> evidence;
  std::optional<double> from_s, to_s;  // the period concerned; empty: the whole run
  bool is_of_part = false;             // judged by this period alone, not by all of the training
  std::optional<double> time_lost_s, max_speedup, confidence;
  std::string advice;  // what to type or change next
  // What the advice alone can bring at most, where that is known and named in it.
  std::optional<double> advice_speedup = {};
};

// How far a run came to what its machine gives at most.
struct ReachedLimit {
  std::string name;  // of model/limits.h
  double reached = 0, limit = 0;
  std::string unit;
  std::string measured;  // when the limit was measured: UTC text
};

// What held the training back, as far as the evidence tells.
struct Diagnosis {
  // One thing that a rule looked at: how far it speaks for the rule, from 0 to 1.
  struct Seen {
    std::string what;             // "main thread running"
    std::optional<double> value;  // empty: not recorded
    double low = 0, high = 0;  // speaks not at all up to `low`, fully from `high` on (or reverse)
    double degree = 0;
    std::string metric;  // that it is computed from; "": of several, or of what the job reports
    std::string unit;    // "%" (of a ratio), "By", "By/s", "cores", "/s", or "": a plain number
    bool is_evidence = true;  // false: it speaks against the rule, or only weighs
  };
  struct Judged {
    std::string rule, verdict;
    double strength = 0;  // from 0 to 1; the largest is the verdict
    std::vector<Seen> seen;
  };
  struct Alternative {
    std::string verdict;
    double confidence = 0;
  };

  // What limited the training from one time to another.
  struct Span {
    double from_s = 0, to_s = 0;
    std::string verdict;  // "unknown" if that is not clear
    double confidence = 0;
  };

  std::string verdict, cause;  // of the contract; cause is empty where none is known
  double confidence = 0;
  double score = 0;      // that the confidence was found by; comparable only between runs
  std::string sentence;  // the verdict for people
  std::vector<BreakdownPart> breakdown;
  std::vector<Finding> findings;  // most important first
  std::vector<Alternative> alternatives;
  std::vector<Span> over_time;  // of the time that was judged; one: the verdict holds throughout
  std::vector<ReachedLimit> limits;  // those that were measured and whose use was recorded
  std::vector<std::string> missing;  // what would have to be recorded to tell, and how
  std::vector<Judged> judged;        // every rule, strongest first
};

// The result of one analysis.
struct AnalysisResult {
  bool is_applicable = true;  // false: the run has nothing to analyse; `unknown` is the reason
  std::vector<BreakdownPart> breakdown;
  std::vector<Pause> pauses;
  std::vector<Finding> findings;
  std::string unknown;  // what it could not decide, and what is needed for that; "": nothing
};

// A value of Diagnosis::Seen in its unit: "8.50 MiB/s".
std::string seen_text(double value, std::string_view unit);

}  // namespace trainscope
