// Statistics for comparing runs: how large a difference is, how certain it is, and how much more
// data would settle it. The method and how often it is right: docs/statistics.md.
//
// Guarantees: pure functions without state; the same input and seed give the same bits. The p-value
// and the intervals always agree: p < 1 - level exactly if the interval of the difference excludes
// 0, and exactly if the interval of the ratio, where there is one, excludes 1. Limits: one run per
// side is a statement about those two runs; only repeats on both sides make it a statement about
// the two configurations. The correlation of values with earlier ones must fade within about a
// tenth of a run. Fewer than 40 blocks per run have wider intervals than their values show.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace trainscope {

// One metric of one run: the means of equal consecutive blocks of time or steps, in order, and how
// much each block holds (steps or samples). A block without data is left out.
struct Observed {
  std::vector<double> means;
  std::vector<double> weights;  // as many as means, each above 0; empty: all blocks hold the same
};

struct Question {
  double level = 0.95;            // of the intervals
  double smallest_effect = 0.02;  // the smallest relative difference that matters
  double power = 0.9;             // probability with which that difference is to be found
  uint64_t seed = 1;              // of random permutations
};

// b compared with a.
struct Effect {
  double a = 0, b = 0;  // the two means or quantiles; of several runs, the mean over runs
  // b / a. Without a positive a and a b of at least 0 there is no ratio: has_ratio is false and the
  // three are NaN. ratio_high is infinite if a cannot be told from 0.
  bool has_ratio = false;
  double ratio = 0, ratio_low = 0, ratio_high = 0;
  double difference = 0, difference_low = 0, difference_high = 0;  // b - a
  double p = 1;                                                    // of no difference, two-sided
  // The same, to be adjusted together with those of many metrics: p is too small where it is far
  // below 0.05, because the degrees of freedom of one run are an estimate.
  double p_of_many = 1;
  double level = 0.95;                      // of the intervals
  double effective_a = 0, effective_b = 0;  // effective number of blocks; between runs, of runs
  bool between_runs = false;                // both sides have repeats: about configurations
  // How many values (what the weights of blocks count; blocks, if they have none) or repeats per
  // side would find smallest_effect; nothing if there are enough, or if it cannot be known
  // (repeats, when one side has only one run).
  std::optional<double> values_needed, repeats_needed;
};

// The fewest blocks of a run whose mean has a known uncertainty.
inline constexpr size_t kFewestBlocks = 8;

// The means of b compared with those of a, one Observed per run. With two or more runs on both
// sides the runs are the units; otherwise the uncertainty is the variation within runs. Nothing if
// a side is empty, a value is not finite or, without repeats on both sides, a run has fewer than
// kFewestBlocks blocks.
std::optional<Effect> compare_means(std::span<const Observed> a, std::span<const Observed> b,
                                    const Question& question = {});

// The same for a quantile (0.5, 0.99) of the values themselves, such as the times of all steps, in
// order; one vector per run. Nothing also if there are too few values for an upper bound.
std::optional<Effect> compare_quantiles(std::span<const std::vector<double>> a,
                                        std::span<const std::vector<double>> b, double quantile,
                                        const Question& question = {});

enum class Difference { higher, lower, same, cannot_tell };
// Of b against a. `same`: the whole interval is within this relative distance of equality, even if
// it excludes equality. `higher`, `lower`: p is below 1 - level. A p that was adjusted for many
// metrics takes effect when it is put into the Effect.
Difference decide(const Effect& effect, double same_within);

// The p-values of many metrics, adjusted by Holm's method: the probability that any metric is
// called different by mistake stays below the level, however the metrics depend on each other.
std::vector<double> adjust(std::span<const double> p);

// The mean of one run and how uncertain it is.
struct MeanEstimate {
  double mean = 0;
  double variance = 0;   // of the mean
  double freedom = 0;    // degrees of freedom of the variance
  double effective = 0;  // independent blocks that would give the same variance
};
std::optional<MeanEstimate> estimate_mean(const Observed& run);

// How many independent values have as certain a mean as these; nothing of fewer than kFewestBlocks.
std::optional<double> effective_size(std::span<const double> values);

// The block length for a bootstrap or a permutation of these values (Politis and White 2004,
// corrected 2009, circular blocks); between 1 and a quarter of their number.
double block_length(std::span<const double> values);

// The p-value of no difference by permuting blocks that are long enough to be independent, or runs,
// if both sides have two or more. It assumes less than compare_means and finds less. Nothing if
// there are fewer than 4 blocks or 2 runs per side.
std::optional<double> permutation_p(std::span<const Observed> a, std::span<const Observed> b,
                                    const Question& question = {});

}  // namespace trainscope
