// Results of analyses: breakdown of time, pauses, findings.
//
// Times are seconds from t = 0. Commands show these values and compute none of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trainscope {

// A part of the step time; the shares of a breakdown add up to 1.
struct BreakdownPart {
  std::string part;  // input, compute, checkpoint, evaluation, warmup, unexplained
  double share = 0;
  double time_s = 0;
};

// An interruption of the training's usual pace.
struct Pause {
  std::string kind;  // input, checkpoint, evaluation, unexplained
  double from_s = 0, to_s = 0;
  double lost_s = 0;  // beyond the usual duration of a step
  int64_t step = 0;   // the step that was delayed by it
};

struct Finding {
  std::string id;        // stable, for scripts: "pauses_input"
  std::string severity;  // info, warning, critical
  std::string summary;   // one sentence with numbers
  std::vector<std::string> evidence;
  std::optional<double> from_s, to_s;  // the period concerned; empty: the whole run
  std::optional<double> time_lost_s, max_speedup, confidence;
  std::string advice;  // what to type or change next
};

// The result of one analysis.
struct AnalysisResult {
  bool is_applicable = true;  // false: the run has nothing to analyse; `unknown` is the reason
  std::vector<BreakdownPart> breakdown;
  std::vector<Pause> pauses;
  std::vector<Finding> findings;
  std::string unknown;  // what it could not decide, and what is needed for that; "": nothing
};

}  // namespace trainscope
