// What analyses answer: where time went, what interrupted the training, what was found.
//
// Times are seconds from t = 0. Nothing here is computed by those who show it.
#pragma once

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

// The training did not go on as it usually does.
struct Pause {
  std::string kind;  // input, checkpoint, evaluation, unexplained
  double from_s = 0, to_s = 0;
  double lost_s = 0;  // beyond what a step usually takes
  int64_t step = 0;   // the step that was late by it
};

struct Finding {
  std::string id;        // stable, for scripts: "input_wait"
  std::string severity;  // info, warning, critical
  std::string summary;   // one sentence with numbers
  std::vector<std::string> evidence;
  std::optional<double> from_s, to_s;  // where to look; empty: the whole run
  std::optional<double> time_lost_s, max_speedup;
  std::string advice;  // what to type or change next
};

// The answer of one analysis.
struct AnalysisResult {
  std::vector<BreakdownPart> breakdown;
  std::vector<Pause> pauses;
  std::vector<Finding> findings;
  std::string unknown;  // what it could not tell, and what is needed to tell; empty: nothing
};

}  // namespace trainscope
