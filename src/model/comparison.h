// Two sides, A and B, each one run or repeats of one configuration: how they differ, how certain
// that is, and why.
//
// Guarantees: absent numbers are empty, never 0. Commands and pages show these values and compute
// none of them. Times are seconds from t = 0.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "model/metric.h"

namespace trainscope {

struct ComparedRun {
  std::string id, name, status;  // status: running, ended, damaged
  double duration_s = 0;
  double from_s = 0, to_s = 0;  // the part of the run that was compared
  std::optional<double> steps;  // in that part; empty: the job reported none
  double warmup_steps = 0;      // left out before it
  std::string verdict, cause;   // of diagnose
};

struct ComparedSide {
  std::vector<ComparedRun> runs;
};

// B against A.
struct ComparedNumber {
  std::optional<double> a, b;  // means; of several runs, the mean over runs
  std::optional<double> difference, difference_low, difference_high;  // b - a
  std::optional<double> ratio, low, high;                             // b / a; empty: a is 0
  std::optional<double> p, p_adjusted;  // of no difference; adjusted for all metrics together
  std::string verdict = "cannot_tell";  // higher, lower, same, cannot_tell
  std::string reason;                   // why it cannot be told; "": it can, or data is too noisy
  std::optional<double> values_needed, repeats_needed;  // per side, that would tell
};

struct ComparedMetric {
  std::string name;
  Labels labels;
  std::string unit;  // of a counter per second: "By/s"
  bool is_main = false;
  std::string title;  // of a main metric, for sentences: "processor"
  ComparedNumber number;
};

// Is training faster? The ratio is B's steps per second over A's.
struct ComparedSpeed {
  std::string metric = "steps_per_s";
  std::optional<double> a_s, b_s;  // time per step, without checkpoints and evaluations
  std::optional<double> ratio, low, high, p;
  std::string verdict = "cannot_tell";  // faster, slower, same, cannot_tell
  std::string sentence;
  std::string reason;  // why it cannot be told
  std::optional<double> effective_a, effective_b, permutation_p;
  std::optional<double> steps_needed, repeats_needed;  // per side, that would tell
  double needed_for = 0;  // the relative difference that they would find
};

// Does the hardware behave differently?
struct ComparedBehaviour {
  std::string verdict = "cannot_tell";  // different, same, cannot_tell
  std::string sentence;
  // The smallest adjusted one of the main metrics that are not the same; of all if all of them are.
  std::optional<double> p;
  size_t main_metrics = 0;  // that were compared
};

// A part of the breakdown, per step, and how much of the difference in step time comes from it.
struct AttributedPart {
  std::string part;
  double a_s = 0, b_s = 0, difference_s = 0;
  std::optional<double> share;  // empty: a pause, or there is no difference
};

// What makes the comparison unfair or weak.
struct ComparisonWarning {
  std::string id, summary;
};

// One of the two answers, for --explain.
struct ComparisonExplanation {
  std::string question, null_hypothesis, test, result;
};

struct Comparison {
  ComparedSide a, b;
  bool is_between_runs = false;   // both sides have repeats: it is about the configurations
  double same_within = 0;         // relative differences up to this are no difference in speed
  double same_metric_within = 0;  // the same of other metrics
  std::string part_rule;          // which part of each run was compared
  ComparedSpeed speed;
  ComparedBehaviour behaviour;
  std::vector<ComparedMetric> metrics;  // main ones first
  std::vector<AttributedPart> attribution;
  std::string why;                       // the attribution in words; "": unknown
  std::optional<ComparedNumber> energy;  // joules per step
  std::string energy_of;                 // what it is the energy of: "GPU"
  std::optional<ComparedNumber> cost;    // money per step, if the price of both sides is known
  std::string currency;                  // "": not stated
  std::vector<ComparisonWarning> warnings;
  std::vector<ComparisonExplanation> explanations;
};

}  // namespace trainscope
