// From the score of a verdict to the probability that it is right, as planted jobs showed it
// (docs/diagnosis-validation.md). The only place in which that relation is written down.
#pragma once

namespace trainscope {

// `score` and the result are from 0 to 1; a higher score never gives a lower confidence.
double confidence_of(double score);

}  // namespace trainscope
