// The two sides of a comparison while it is being made, and its parts, one file each.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compare/observed_run.h"
#include "model/comparison.h"

namespace trainscope {

struct Sides {
  std::vector<ObservedRun> a, b;

  bool is_between_runs() const { return a.size() > 1 && b.size() > 1; }
  bool is_one_each() const { return a.size() == 1 && b.size() == 1; }
  // Why steps cannot be compared; "": they can.
  std::string no_steps() const;
};

// One metric of both sides; the verdict is still open.
struct TestedNumber {
  ComparedNumber number;
  std::optional<Effect> effect;  // none: too few values
};
// What is needed to tell is what would find a difference of `same_within`.
TestedNumber compare_number(const std::vector<Observed>& a, const std::vector<Observed>& b,
                            double same_within);
std::string_view verdict_name(Difference difference);

// Of the training, as opposed to the hardware.
bool is_of_training(std::string_view metric);

// Relative differences up to these are the same.
struct SameWithin {
  double speed = 0, metric = 0;
};
std::vector<ComparedMetric> compare_metrics(const Sides& sides, const SameWithin& same);
ComparedSpeed compare_speed(const Sides& sides, double same_within);
// Marks the main metrics and puts them first.
ComparedBehaviour judge_behaviour(std::vector<ComparedMetric>& metrics);
std::vector<AttributedPart> attribute_difference(const Sides& sides);
std::vector<ComparisonWarning> find_warnings(const Sides& sides, const Comparison& comparison);
// Warnings of energy, cost and GPUs that others use; "": nothing to warn of.
std::string warn_of_idle_energy(const Sides& sides, const Comparison& comparison);
std::string warn_of_prices(const Sides& sides, const Comparison& comparison);
std::string warn_of_few_times(const Sides& sides, const Comparison& comparison);
std::string warn_of_gpu_neighbours(const Sides& sides, const Comparison& comparison);

// Texts (sentence.cpp).
std::string scope_text(const Comparison& comparison);
std::string speed_sentence(const Comparison& comparison, const Sides& sides);
std::string behaviour_sentence(const Comparison& comparison);
std::string why_text(const Comparison& comparison, const Sides& sides);
std::vector<ComparisonExplanation> explain(const Comparison& comparison, const Sides& sides);

}  // namespace trainscope
