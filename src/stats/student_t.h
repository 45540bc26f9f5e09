// Student's t distribution, for any positive number of degrees of freedom.
#pragma once

namespace trainscope {

// The probability of a value at least this far from 0, on either side.
double two_sided_p(double t, double freedom);

// The distance from 0 that is exceeded with this probability, on either side together; 0 < p < 1.
double two_sided_t(double p, double freedom);

}  // namespace trainscope
