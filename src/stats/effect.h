// From two uncertain numbers to an Effect.
#pragma once

#include <functional>
#include <optional>

#include "stats/stats.h"

namespace trainscope {

// How far the truth may be below and above an estimate.
struct Deviation {
  double down = 0, up = 0;
};

// One side of a comparison: an estimate and its uncertainty.
struct Side {
  double value = 0;
  double freedom = 1;    // degrees of freedom of the uncertainty
  double effective = 0;  // effective number of blocks, or of runs if they are the units
  double units = 0;      // values in all blocks, or runs if they are the units
  // How far the truth may be for this multiple of the standard error; never less for a larger one.
  std::function<Deviation(double multiple)> deviation;
  // So many times as large as estimated the variance is taken to be, because of few blocks.
  double caution = 1;
};

// A Side whose estimate has this variance.
Side normal_side(const MeanEstimate& estimate, double units);

// Runs as units: their mean, with the variation between them. At least two values.
Side side_of_runs(std::span<const double> values);

Effect effect_of(const Side& a, const Side& b, bool between_runs, const Question& question);

}  // namespace trainscope
